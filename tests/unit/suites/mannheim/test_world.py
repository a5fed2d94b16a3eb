from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from pytest_fcall.suites.mannheim.queries import QUERIES, ColumnTest, Query
from pytest_fcall.suites.mannheim.world import NoTable, make, read_table
from tests.unit.suites.mannheim.data import write, write_tables

TABLES = {
    "albums_1": "release_name,artist_name,release_date,genres,descriptors,avg_rating,rating_count,review_count\n"
    'One,Ann,2001-05-01,"Rock, Pop",dark,3.5,10,1\n'
    'Two,"Ann, Bob",2001-06-30,Jazz,warm,4.5,900,50\n'
    "Three,Bob,2010-01-01,Art Pop,warm,4,200,20\n",
    "songs_1": "track_name,artist(s)_name,release_date,streams,duration_in_min,danceability_%,speechiness_%,energy_%,"
    "bpm,explicit\n"
    'S1,"Ann, Bob",2020-01-02,900,3.5,80,10,50,120,True\nS2,Bob,2021-03-04,100,5,60,30,55,90,False\n',
    "albums_2": "release_name,artist_name,avg_rating\nOne,Ann,3\nTwo,Ann,4\nThree,Bob,4\n",
    "songs_2": "track_name,streams\nS1,5\nS2,7\n",
    "artists_2": 'Name,genres\nAnn,"Rock, Pop"\nBob,Jazz\n',
    "airbnbs": "name,host_name,neighbourhood_group,room_type,price,minimum_nights,number_of_reviews,last_review,"
    "latitude,longitude\n"
    "Nest,Eve,Brooklyn,Private room,40,1,7,01-01-19,40.70,-73.95\n"
    "Loft,Max,Brooklyn,Private room,60,3,9,02-01-19,40.71,-73.95\n"
    "Flat,Eve,Queens,Shared room,20,1,,,41.9,-73.95\n",
    "restaurants": "DBA,BORO,cuisine,PHONE,ZIPCODE,STREET,BUILDING,Latitude,Longitude\n"
    "Pho,Manhattan,Thai,2125,10019,Main St,4,40.70,-73.96\nWok,Queens,Thai,7185,11101,Side St,9,40.0,-73.0\n",
    "food_orders": "restaurant_name,cuisine_type,cost_of_the_order,rating,delivery_time,food_preparation_time\n"
    "Pho,Thai,10,5,20,30\nPho,Thai,20,Not given,30,20\nWok,Thai,5,3,10,10\n",
}


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., Any]:
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text)
    world = make(str(tmp_path), "music")

    def called(name: str, **given: Any) -> Any:
        function: Any = world[name]
        return function(**given)

    return called


def names(rows: Any) -> list[str]:
    return [row.get("release_name", row.get("track_name", row.get("Name"))) for row in rows]


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("albums_by_artist_1", {"artist_name": "Bob"}, ["Three"]),
        ("top_rated_albums", {"n": 2}, ["Two", "Three"]),
        ("top_rated_albums", {"n": 0}, None),
        ("albums_by_genres", {"genres": ["pop"]}, ["One", "Three"]),
        ("albums_by_genres2", {"genres_in": ["Pop"], "genres_out": ["Art"]}, ["One"]),
        ("albums_by_release_date_1", {"release_date": "2001"}, ["One", "Two"]),
        ("albums_by_release_date_1", {"release_date": "2001-06"}, ["Two"]),
        ("filter_albums_by_date_range", {"start_date": "2001-06", "end_date": "2010"}, ["Two", "Three"]),
        ("filter_albums_by_date_range", {"start_date": "2001-05-02", "end_date": "2009-12-31"}, ["Two"]),
        ("high_rated_albums", {}, ["Two", "Three"]),
        ("high_rated_reviewed_albums", {"rating_threshold": 3, "min_ratings": 1, "review_threshold": 30}, ["Two"]),
        (
            "unique_albums",
            {"genres_threshold": 0, "artist_count_threshold": 2, "max_rating_threshold": 5},
            ["Two"],
        ),
        ("songs_by_artist_1", {"artist_name": "Ann"}, ["S1"]),
        ("songs_by_longest_duration", {"n": 1}, ["S2"]),
        ("top_streamed_songs_by_artist", {"artist_name": "bob"}, ["S1", "S2"]),
        ("songs_by_danceability_explicitness", {"danceability_threshold": 50, "explicit": False}, ["S2"]),
        ("songs_by_danceability_explicitness", {"danceability_threshold": 50}, ["S1"]),
        (
            "speechiness_songs",
            {"speechiness": 15, "energy": 50, "explicit": True, "bpm": 110, "threshold": 10},
            ["S1"],
        ),
        ("artists_by_genres", {"genres": ["jazz"]}, ["Bob"]),
        ("albums_by_artist_1", {"artist_name": None}, None),
    ],
)
def test_rows_are_looked_for(call: Callable[..., Any], name: str, given: dict[str, Any], found: list[str]) -> None:
    said = call(name, **given)
    assert said == {"error": "nothing was found"} if found is None else names(said) == found


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("artist_by_album", {"album_name": "One"}, {"artist_name": "Ann"}),
        ("max_rating_given_albums", {"albums": ["Two", "Three"]}, {"avg_rating": 4, "release_name": ["Two", "Three"]}),
        ("sum_streams_given_songs", {"songs": ["S1", "S2"]}, {"sum of streams": 12}),
        ("get_host_name", {"listing_name": "nest"}, {"host_name": "Eve"}),
        ("get_frequent_listings", {"nr_of_listings": 5}, ["Loft", "Nest"]),
        ("get_listing_by_lower_price", {"price": 40}, ["Nest", "Flat"]),
        (
            "get_min_cost_by_neighbourhood_group_room_type_min_nights",
            {"nr_requests": 1, "neighbourhood_group": "brooklyn", "room_type": "private room", "min_nights": 5},
            ["Nest"],
        ),
        (
            "get_avg_by_neighbourgood_group_and_room_type",
            {"neighbourhood_group": "Brooklyn", "room_type": "Private room"},
            {"mean of price": 50.0},
        ),
        ("get_long_lat_by_airbnb", {"listing": "Loft"}, [{"latitude": 40.71, "longitude": -73.95}]),
        (
            "get_restaurant_by_zipcode_cuisine_borough_phone",
            {"zip_code": 10019, "cuisine": "thai", "borough": "Manhattan", "phone": "2125"},
            ["Pho"],
        ),
        ("get_avg_costs_by_restaurant_name", {"restaurant_name": "pho"}, {"mean of cost_of_the_order": 15.0}),
        (
            "get_ratings_per_cuisines",
            {"cuisines": "Thai, Greek"},
            {"Thai": {"mean of rating": 4.0}, "Greek": {"error": "nothing was found"}},
        ),
    ],
)
def test_columns_and_figures_are_given(call: Callable[..., Any], name: str, given: dict[str, Any], found: Any) -> None:
    assert call(name, **given) == found


def test_places_are_looked_for_around_a_point(call: Callable[..., Any]) -> None:
    here = {"latitude": 40.70, "longitude": -73.95}
    near = call("get_airbnb_by_lat_long", **here)
    assert [(each["name"], round(each["distance"], 2)) for each in near] == [("Nest", 0.0), ("Loft", 1.11)]
    (nearest,) = call("get_airbnb_address_by_lat_long", latitude="40.70", longitude=-73.95)
    assert nearest["STREET"] == "Main St"


def test_what_is_no_number_is_told(call: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="'dear' is not a number"):
        call("get_listing_by_lower_price", price="dear")


def test_a_missing_table_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(NoTable, match=r"no airbnbs\.csv in .*src/data"):
        make(str(tmp_path), "travel")


def test_tables_are_found_beside_the_configuration(tmp_path: Path) -> None:
    write_tables(write(tmp_path, [], []))
    assert len(read_table(tmp_path, "albums_1")) == len(read_table(tmp_path / "src" / "config", "albums_1")) == 3


def test_a_table_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    (tmp_path / "songs_1.csv").write_bytes(b"a\n\xff\n")
    with pytest.raises(NoTable, match="cannot read the table songs_1"):
        read_table(tmp_path, "songs_1")


def test_cells_are_numbers_and_truth_values_where_they_look_so(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c,d,e\n1,-2.5,TRUE,,1e5\n")
    assert [*read_table(tmp_path, "t")[0].values()] == [1, -2.5, True, None, "1e5"]


def test_every_query_is_of_known_tables_and_tests() -> None:
    for name, query in QUERIES.items():
        assert isinstance(query, Query)
        assert query.table in TABLES, name
        assert all(where.test in get_args(ColumnTest) for where in query.where), name
