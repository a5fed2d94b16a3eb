// The versions whose folders lie beside that of this site. docs/site/versions.py fills it in; alone, a site has none.
const VERSIONS = [];
