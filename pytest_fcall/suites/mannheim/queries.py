"""The functions of the benchmark as queries of tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

ColumnTest: TypeAlias = Literal[
    "is",  # equal
    "like",  # equal but for letter case and blanks around it
    "least",
    "most",
    "above",
    "below",
    "near",  # not farther away than the parameter `threshold`
    "in",  # on the day, in the month or in the year
    "since",
    "until",
    "has",  # one of several names, separated by commas
    "says",  # anywhere in the text
    "any",  # one of these, anywhere in the text
    "none",  # none of these
    "more",  # more parts, separated by commas
    "parts",  # at least as many parts
]


_TESTS: Final[tuple[ColumnTest, ...]] = get_args(ColumnTest)
Aggregate: TypeAlias = Literal["", "mean", "sum", "greatest", "one"]
"""The result made of the first column; `one` is its first value."""


@dataclass(frozen=True, slots=True)
class ColumnCondition:
    """A test of a column against a parameter."""

    column: str
    test: ColumnTest
    parameter: str


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a table. Its result is rows, some columns of them, or an aggregate."""

    table: str
    where: tuple[ColumnCondition, ...] = ()
    columns: tuple[str, ...] = ()
    """The columns of the result; all if empty."""
    order: str = ""
    """The column by which rows are sorted, descending, or ascending after a `+`."""
    limit_parameter: str = ""
    """The parameter with the number of rows; all rows if empty."""
    aggregate: Aggregate = ""
    radius_km: float = 0
    """The distance from the parameters `latitude` and `longitude`; 0 for any, below 0 for the nearest row alone."""
    split_parameter: str = ""
    """A parameter of several texts, separated by commas; each text is a query of its own."""


DEFAULTS: Final[Mapping[str, object]] = MappingProxyType(
    {"explicit": True, "rating_threshold": 4.0, "min_ratings": 100, "threshold": 20, "n": 10}
)
"""The values of parameters that a model leaves out."""


def _query(
    table: str,
    *where: str,
    give: str = "",
    order: str = "",
    first: str = "",
    figure: Aggregate = "",
    within: float = 0,
    each: str = "",
) -> Query:
    """Make a query. Conditions are `column test parameter`; the parameter's default name is that of the column."""
    return Query(table, tuple(map(_condition, where)), tuple(give.split()), order, first, figure, within, each)


def _condition(text: str) -> ColumnCondition:
    column, test, *parameter = text.split()
    known = next(each for each in _TESTS if each == test)
    return ColumnCondition(column, known, parameter[0] if parameter else column)


_GROUP = "neighbourhood_group like"
_ROOM = "room_type like"
_CUISINE = "cuisine like"
_BORO = "BORO like borough"
_RESTAURANT = "DBA like restaurant"
_ARTIST = "artist(s)_name is artist_name"
_DAY = "release_date in"
_SPAN = ("release_date since start_date", "release_date until end_date")
_RATED = ("avg_rating least rating_threshold", "rating_count least min_ratings")
_REVIEWED = (*_RATED, "review_count least review_threshold")
_SHOPS = ("ZIPCODE is zip_code", _CUISINE, _BORO, "PHONE is phone")

QUERIES: Final[Mapping[str, Query]] = MappingProxyType(
    {
        # Music, in one step
        "albums_by_artist_1": _query("albums_1", "artist_name is"),
        "top_rated_albums": _query("albums_1", order="avg_rating", first="n"),
        "artist_by_album": _query("albums_1", "release_name is album_name", give="artist_name", figure="one"),
        "albums_by_genres": _query("albums_1", "genres any"),
        "albums_by_release_date_1": _query("albums_1", _DAY),
        "top_streamed_songs": _query("songs_1", order="streams", first="n"),
        "songs_by_release_date": _query("songs_1", _DAY),
        "songs_by_longest_duration": _query("songs_1", order="duration_in_min", first="n"),
        "artist_by_song": _query("songs_1", "track_name is song_name", give="artist(s)_name", figure="one"),
        "songs_by_artist_1": _query("songs_1", "artist(s)_name has artist_name"),
        "filter_albums_by_date_range": _query("albums_1", *_SPAN),
        "albums_by_genres2": _query("albums_1", "genres any genres_in", "genres none genres_out"),
        "albums_by_date_and_genres": _query("albums_1", _DAY, "genres any"),
        "high_rated_albums": _query("albums_1", *_RATED),
        "top_streamed_songs_by_artist": _query(
            "songs_1", "artist(s)_name says artist_name", order="streams", first="n"
        ),
        "songs_by_danceability_explicitness": _query(
            "songs_1", "danceability_% above danceability_threshold", "explicit is"
        ),
        "albums_by_year_genres_and_descriptors": _query("albums_1", _DAY, "genres any", "descriptors any"),
        "high_rated_reviewed_albums": _query("albums_1", *_REVIEWED),
        "songs_by_danceability_explicitness_speechiness": _query(
            "songs_1",
            "danceability_% above danceability_threshold",
            "speechiness_% above speechiness_threshold",
            "explicit is",
        ),
        "top_streamed_songs_by_artist_date": _query("songs_1", _ARTIST, _DAY, order="streams", first="n"),
        "unique_albums": _query(
            "albums_1",
            "genres more genres_threshold",
            "artist_name parts artist_count_threshold",
            "avg_rating below max_rating_threshold",
        ),
        "albums_by_dates_genres_rating": _query(
            "albums_1", *_SPAN, "genres any genre_in", "genres none genre_out", "avg_rating least min_rating"
        ),
        "high_rated_reviewed_albums_by_date": _query("albums_1", *_REVIEWED, _DAY),
        "top_streamed_songs_by_artist_date_range": _query("songs_1", _ARTIST, *_SPAN, order="streams", first="n"),
        "speechiness_songs": _query(
            "songs_1", "speechiness_% near speechiness", "energy_% near energy", "bpm near", "explicit is"
        ),
        "instrumental_songs": _query(
            "songs_1",
            "instrumentalness_% near instrumentalness",
            "valence_% near valence",
            "danceability_% near danceability",
            "bpm near",
        ),
        # Music, in several steps
        "artist_info": _query("artists_2", "Name is artist_name"),
        "album_info": _query("albums_2", "release_name is album_name"),
        "song_info": _query("songs_2", "track_name is song_name"),
        "albums_by_artist_2": _query("albums_2", "artist_name says"),
        "songs_by_artist_2": _query("songs_2", "artist(s)_name says artist_name"),
        "songs_by_album": _query("songs_2", "album_name is"),
        "artists_by_genres": _query("artists_2", "genres any"),
        "max_rating_given_albums": _query(
            "albums_2", "release_name is albums", give="avg_rating release_name", figure="greatest"
        ),
        "sum_streams_given_songs": _query("songs_2", "track_name is songs", give="streams", figure="sum"),
        "albums_by_release_date_2": _query("albums_2", _DAY),
        "highest_rated_albums": _query("albums_2", *_RATED),
        # Places to stay
        "get_host_name": _query("airbnbs", "name like listing_name", give="host_name", figure="one"),
        "get_min_nights": _query("airbnbs", "name like listing_name", give="minimum_nights", figure="one"),
        "get_nr_of_reviews": _query("airbnbs", "name like listing_name", give="number_of_reviews", figure="one"),
        "get_frequent_listings": _query("airbnbs", give="name", order="number_of_reviews", first="nr_of_listings"),
        "get_listing_price": _query("airbnbs", "name like listing_name", give="price", figure="one"),
        "get_listing_by_room_type": _query("airbnbs", _ROOM, give="name"),
        "get_listing_by_neighbourhood_group": _query("airbnbs", _GROUP, give="name"),
        "get_listings_by_review_date": _query("airbnbs", "last_review is last_review_date", give="name"),
        "get_listings_by_min_nights": _query("airbnbs", "minimum_nights is", give="name"),
        "get_listing_by_price": _query("airbnbs", "price is", give="name"),
        "get_listing_by_lower_price": _query("airbnbs", "price most", give="name"),
        "get_neighbourhood_group": _query("airbnbs", "name like", give="neighbourhood_group", figure="one"),
        "get_airbnb_by_price_and_neighborhood_group": _query("airbnbs", "price most", _GROUP, give="name"),
        "get_airbnb_by_price_min_nights_and_neighborhood_group": _query(
            "airbnbs", "price most", "minimum_nights most min_nights", _GROUP, give="name"
        ),
        "get_airbnb_by_price_min_nights_and_neighbourhood_group": _query(
            "airbnbs",
            "price least min_price",
            "price most max_price",
            "minimum_nights most min_nights",
            _GROUP,
            give="name",
        ),
        "get_airbnb_by_neighbourhood_group_room_type_date": _query(
            "airbnbs", _GROUP, _ROOM, "last_review is last_review_date", give="name"
        ),
        "get_airbnb_by_price_range_neighbourhood": _query(
            "airbnbs", "price least min_price", "price most max_price", _GROUP, give="name"
        ),
        "get_x_most_popular_places_in_neighbourhood_group_room_type": _query(
            "airbnbs", _GROUP, _ROOM, give="name", order="number_of_reviews", first="popularity"
        ),
        "get_min_cost_by_neighbourhood_group_room_type_min_nights": _query(
            "airbnbs",
            _GROUP,
            _ROOM,
            "minimum_nights most min_nights",
            give="name",
            order="+price",
            first="nr_requests",
        ),
        "get_avg_by_neighbourgood_group_and_room_type": _query("airbnbs", _GROUP, _ROOM, give="price", figure="mean"),
        "get_airbnb_with_max_reviews": _query(
            "airbnbs",
            _GROUP,
            _ROOM,
            give="name latitude longitude number_of_reviews",
            order="number_of_reviews",
            first="popularity",
        ),
        "get_long_lat_by_airbnb": _query("airbnbs", "name like listing", give="latitude longitude"),
        "get_airbnb_by_lat_long": _query("airbnbs", give="name", within=4),
        # Places to eat
        "get_restaurants_by_cuisine": _query("restaurants", _CUISINE, give="DBA"),
        "get_borough_location": _query("restaurants", _RESTAURANT, give="BORO", figure="one"),
        "get_cuisine": _query("restaurants", _RESTAURANT, give="cuisine", figure="one"),
        "get_telephone_number_by_name_neighbourhood_group_cuisine": _query(
            "restaurants", _RESTAURANT, "BORO like neighbourhood_group", _CUISINE, give="PHONE"
        ),
        "get_restaurant_by_zipcode_cuisine_borough_phone": _query("restaurants", *_SHOPS, give="DBA"),
        "get_restaurant_long_lat_by_zipcode_cuisine_borough_phone": _query(
            "restaurants", *_SHOPS, give="Latitude Longitude"
        ),
        "get_info_by_name_cuisine_borough_phone": _query(
            "restaurants", _RESTAURANT, _CUISINE, _BORO, "PHONE is phone", give="STREET BUILDING ZIPCODE"
        ),
        "get_restaurant_by_cuisine_borough": _query("restaurants", _CUISINE, _BORO, give="DBA"),
        "get_long_lat_by_name_street": _query(
            "restaurants", _RESTAURANT, "STREET like street", give="Latitude Longitude"
        ),
        "get_airbnb_address_by_lat_long": _query("restaurants", give="STREET", within=-1),
        "get_restaurant_by_airbnb_closeness": _query("restaurants", give="DBA", within=5),
        "get_info_restaurant_with_zipcode_street_building": _query(
            "restaurants", give="DBA STREET ZIPCODE PHONE BUILDING", within=5
        ),
        "get_cuisine_restaurant_by_airbnb_closeness": _query("restaurants", give="DBA cuisine", within=5),
        "get_neighborhood_by_rest_specification": _query(
            "restaurants", "DBA like restaurants", "BORO like neigborhood", give="DBA BORO", each="restaurants"
        ),
        # Orders
        "get_restaurants_by_ratings": _query("food_orders", "rating is", give="restaurant_name"),
        "get_ratings_per_cuisines": _query(
            "food_orders", "cuisine_type like cuisines", give="rating", figure="mean", each="cuisines"
        ),
        "get_rating_by_restaurant_name": _query("food_orders", "restaurant_name like", give="rating"),
        "get_avg_costs_by_restaurant_name": _query(
            "food_orders", "restaurant_name like", give="cost_of_the_order", figure="mean"
        ),
        "get_avg_delivery_time_by_restaurant_name": _query(
            "food_orders", "restaurant_name like", give="delivery_time", figure="mean"
        ),
        "get_avg_prep_time_by_restaurant_name": _query(
            "food_orders", "restaurant_name like", give="food_preparation_time", figure="mean"
        ),
    }
)
"""The queries by the names of functions. They do what the descriptions say, even if the original's do not."""
