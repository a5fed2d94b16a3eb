from __future__ import annotations

import pytest

from pytest_fcall.suites.bfcl.executable_functions import FUNCTIONS, execute, parse_formula


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("math_factorial(n=5)", 120),
        ("math_factorial(n=-1)", 1),
        ("math_gcd(a=12, b=18)", 6),
        ("math_gcd(a=-4, b=6)", 2),
        ("math_lcm(a=4, b=6)", 12.0),
        ("calculate_permutations(n=5, k=2)", 20.0),
        ("calc_binomial_probability(n=4, k=2, p=1/2)", 0.375),
        ("get_prime_factors(number=60)", [2, 2, 3, 5]),
        ("get_fibonacci_sequence(n=1)", [0, 1]),
        ("get_fibonacci_sequence(n=6)", [0, 1, 1, 2, 3, 5]),
        ("get_fibonacci_number(n=6)", 5),
        ("get_fibonacci_number(n=0)", "Input should be a positive integer."),
        ("quadratic_roots(a=1, b=-3, c=2)", [2.0, 1.0]),
        ("quadratic_roots(a=1, b=2, c=5)", [{"real": -1.0, "imaginary": 2.0}, {"real": -1.0, "imaginary": -2.0}]),
        ("calculate_mean([1, 2, 6])", 3.0),
        ("calculate_mean(numbers=get_fibonacci_sequence(n=3))", 2 / 3),
        ("calculate_standard_deviation(numbers=[1, 3])", 1.0),
        ("linear_regression(x=[1, 2, 3], y=[2, 4, 6], point=4)", 8.0),
        ("calculate_cosine_similarity(vectorA=[3, 4], vectorB=[4, 3])", 0.96),
        ("get_distance(pointA=(0, 0), pointB=(3, 4))", 5.0),
        ("mat_mul(matA=[[1, 2], [3, 4]], matB=[[5], [6]])", [[17], [39]]),
        ("maxPoints(points=[[1, 1], [2, 2], [3, 3], [1, 2], [1, 3]])", 3),
        ("maxPoints(points=[[1, 1]])", 1),
        ("polygon_area(vertices=[[0, 0], [4, 0], [4, 3]])", 6.0),
        ("calculate_future_value(present_value=100, interest_rate=0.5, periods=2)", 225.0),
        ("calculate_triangle_area(base=3, height=5)", 7.5),
        ("geometry_area_circle(radius=0)", 0.0),
        ("calculate_final_velocity(initial_velocity=1, acceleration=2, time=3)", 7),
        ("calculate_displacement(initial_velocity=1, acceleration=2, time=3)", 12.0),
        ("calculate_electrostatic_potential_energy(charge=2, voltage=3)", 6),
        ("calculate_density(mass=3, volume=2)", 1.5),
        ("sort_array(array=[2, 1, 3], reverse=True)", [3, 2, 1]),
        ("add_binary_numbers(a='101', b='11')", "1000"),
        ("order_food(item=['a', 'b'], quantity=[2, 1], price=[3, 4])", 10),
        (
            "calculate_investment_value(initial_investment=100, annual_contribution=10, years=2, annual_return=0.5, "
            "inflation_rate=[0.25, 0.25], adjust_for_inflation=True)",
            173.125,
        ),
        (
            "calculate_investment_value(initial_investment=100, annual_contribution=10, years=1, annual_return=0.5, "
            "inflation_rate=[], adjust_for_inflation=False)",
            160.0,
        ),
    ],
)
def test_calls_give_what_the_leaderboard_says(source: str, result: object) -> None:
    assert execute(source) == result


def test_longer_answers_are_given_whole() -> None:
    room = execute(
        "book_room(room_type='D', price=100, check_in_date='1', check_out_date='2', customer_id='3', "
        "discount_code='DISCOUNT10')"
    )
    assert room == {
        "customer_id": "3",
        "room_number": "D",
        "check_in_date": "1",
        "check_out_date": "2",
        "total_price": 90.0,
    }
    needs = execute(
        "calculate_nutritional_needs(weight=80, height=180, age=40, gender='male', activity_level=1, goal='lose')"
    )
    assert isinstance(needs, dict)
    assert needs["calories"] == pytest.approx(1656.23, abs=0.01)
    assert needs["calories"] == pytest.approx(
        needs["proteins_g"] * 4 + needs["fats_g"] * 9 + needs["carbohydrates_g"] * 4
    )
    assert execute(
        "mortgage_calculator(loan_amount=1200, interest_rate=0.12, loan_period=1)"
    ) == pytest.approx(106.62, abs=0.01)  # fmt: skip


@pytest.mark.parametrize(
    "source",
    ["get_weather_data(coordinates=[1, 2])", "math.gcd(a=1, b=2)", "execute('1')", "__import__('os')", "eval('1')"],
)
def test_nothing_else_can_be_called(source: str) -> None:
    with pytest.raises(NameError):
        execute(source)


@pytest.mark.parametrize("source", ["math_gcd(a=1)", "calculate_mean(numbers=[])", "polygon_area(vertices=[[1, 2]])"])
def test_a_call_that_cannot_be_made_fails(source: str) -> None:
    with pytest.raises((TypeError, ArithmeticError, ValueError)):
        execute(source)


def test_derivatives_are_estimated_of_formulas() -> None:
    assert FUNCTIONS["estimate_derivative"](function="lambda x : 3*x**2 + 2*x - -1", x=2) == pytest.approx(14, abs=1e-3)


@pytest.mark.parametrize(
    "source",
    [
        "lambda x: __import__('os').getcwd()",
        "lambda x, y: x",
        "lambda x=1: x",
        "lambda *x: 1",
        "lambda x: y",
        "lambda x: [x for _ in range(9)]",
        "lambda x: 'a' * 10**9",
        "lambda x: 9**9**9",
        "lambda x: True",
        "x + 1",
        "lambda x: (",
        "print(1)",
    ],
)
def test_nothing_but_arithmetic_is_worked_out(source: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        parse_formula(source)(1.0)
