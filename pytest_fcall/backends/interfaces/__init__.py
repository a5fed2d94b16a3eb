"""The interfaces of models that apps use, and the Requests and Replies in what apps send and receive."""
