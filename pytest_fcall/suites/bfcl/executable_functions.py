"""The functions of the executable categories, and the environment that calls them in the contained process."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from pytest_fcall.core.arithmetic import Incalculable, Number, apply_operator, apply_sign
from pytest_fcall.suites.bfcl.source_calls import execute_source, unknown_name

Numbers: TypeAlias = Sequence[float]

_STEP: Final = 1e-10
_ACTIVITY: Final = (1.2, 1.375, 1.55, 1.725, 1.9)


def parse_formula(source: str) -> Callable[[float], Any]:
    """Return the function of a lambda expression. Raises ValueError or SyntaxError for anything but arithmetic."""
    node = ast.parse(source.strip(), "<string>", "eval").body
    match node:
        case ast.Lambda(ast.arguments([], [ast.arg(name)], None, [], [], None, []), body):
            return lambda number: _evaluate(body, name, number)
    raise Incalculable("the formula must be a lambda of one number")


def _evaluate(node: ast.expr, name: str, number: float) -> Number:
    match node:
        case ast.Name(known) if known == name:
            return number
        case ast.Constant(int() | float() as constant) if not isinstance(constant, bool):
            return constant
        case ast.BinOp(left, sign, right):
            return apply_operator(sign, _evaluate(left, name, number), _evaluate(right, name, number))
        case ast.UnaryOp(sign, operand):
            return apply_sign(sign, _evaluate(operand, name, number))
    raise Incalculable(f"the formula must be arithmetic on one number, not {ast.unparse(node)[:100]}")


def _factorial(n: int) -> int:
    return math.prod(range(1, n + 1))


def _gcd(a: int, b: int) -> int:
    while b != 0:
        a, b = b, a % b
    return a


def _lcm(a: int, b: int) -> float:
    return a * b / _gcd(a, b)


def _prime_factors(number: float) -> list[int]:
    factors, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            factors.append(divisor)
            number /= divisor
        divisor += 1
    return factors


def _permutations(n: int, k: int) -> float:
    return _factorial(n) / _factorial(n - k)


def _binomial(n: int, k: int, p: float) -> float:
    chance: float = p**k * (1 - p) ** (n - k)
    return _factorial(n) / (_factorial(k) * _factorial(n - k)) * chance


def _fibonacci_sequence(n: int) -> list[int]:
    """The first numbers, at least two of them."""
    sequence = [0, 1]
    for _ in range(2, n):
        sequence.append(sequence[-1] + sequence[-2])
    return sequence


def _fibonacci_number(n: int) -> int | str:
    return _fibonacci_sequence(n)[n - 1] if n > 0 else "Input should be a positive integer."


def _quadratic_roots(a: float, b: float, c: float) -> list[Any]:
    inside = b**2 - 4 * a * c
    if inside >= 0:
        return [(-b + inside**0.5) / (2 * a), (-b - inside**0.5) / (2 * a)]
    real, imaginary = -b / (2 * a), abs(inside) ** 0.5 / (2 * a)
    return [{"real": real, "imaginary": imaginary}, {"real": real, "imaginary": -imaginary}]


def _derivative(function: str, x: float) -> Any:
    f = parse_formula(function)
    return (f(x + _STEP) - f(x)) / _STEP


def _mean(numbers: Numbers) -> float:
    return sum(numbers) / len(numbers)


def _standard_deviation(numbers: Numbers) -> float:
    mean = _mean(numbers)
    deviation: float = (sum((number - mean) ** 2 for number in numbers) / len(numbers)) ** 0.5
    return deviation


def _linear_regression(x: Numbers, y: Numbers, point: float) -> float:
    n, total_x, total_y = len(x), sum(x), sum(y)
    squares = sum(each**2 for each in x)
    products = sum(x[i] * y[i] for i in range(n))
    slope = (n * products - total_x * total_y) / (n * squares - total_x**2)
    return slope * point + (total_y - slope * total_x) / n


def _cosine_similarity(vectorA: Numbers, vectorB: Numbers) -> float:  # noqa: N803  the leaderboard's names
    product = sum(vectorA[i] * vectorB[i] for i in range(len(vectorA)))
    lengths: list[float] = [sum(each**2 for each in vector) ** 0.5 for vector in (vectorA, vectorB)]
    return product / (lengths[0] * lengths[1])


def _distance(pointA: Numbers, pointB: Numbers) -> float:  # noqa: N803
    distance: float = ((pointA[0] - pointB[0]) ** 2 + (pointA[1] - pointB[1]) ** 2) ** 0.5
    return distance


def _product(matA: Sequence[Numbers], matB: Sequence[Numbers]) -> list[list[float]]:  # noqa: N803
    result: list[list[float]] = [[0] * len(matB[0]) for _ in matA]
    for i, row in enumerate(result):
        for j in range(len(row)):
            for k in range(len(matB)):
                row[j] += matA[i][k] * matB[k][j]
    return result


def _points_on_a_line(points: Sequence[Numbers]) -> int:
    if len(points) < 2:
        return 1
    most = 1
    for number, (x, y, *_) in enumerate(points, 1):
        slopes = Counter("up" if x == u else (v - y) / (u - x) for u, v, *_ in points[number:])
        most = max([most, *slopes.values()])
    return most + 1


def _polygon_area(vertices: Sequence[Numbers]) -> float:
    if len(vertices) < 3:
        raise ValueError("a polygon has three vertices or more")
    area: float = 0
    for here, there in zip(vertices, [*vertices[1:], vertices[0]], strict=True):
        area += here[0] * there[1] - there[0] * here[1]
    return abs(area) / 2.0


def _mortgage(loan_amount: float, interest_rate: float, loan_period: int) -> float:
    rate, payments = interest_rate / 12, loan_period * 12
    growth: float = (1 + rate) ** payments
    return loan_amount * rate * growth / (growth - 1)


def _future_value(present_value: float, interest_rate: float, periods: int) -> float:
    growth: float = (1 + interest_rate) ** periods
    return present_value * growth


def _investment(
    initial_investment: float,
    annual_contribution: float,
    years: int,
    annual_return: float,
    inflation_rate: Numbers,
    adjust_for_inflation: bool = True,
) -> float:
    value = initial_investment
    for year in range(years):
        if adjust_for_inflation:
            inflation = inflation_rate[year]
            value = value * (1 + annual_return - inflation) + annual_contribution * (1 - inflation)
        else:
            value = value * (1 + annual_return) + annual_contribution
    return value


def _nutrition(
    weight: float, height: float, age: float, gender: str, activity_level: int, goal: str
) -> dict[str, float]:
    if gender == "male":
        base = 88.362 + 13.397 * weight + 4.799 * height - 5.677 * age
    else:
        base = 447.593 + 9.247 * weight + 3.098 * height - 4.330 * age
    calories = base * _ACTIVITY[activity_level - 1] + {"lose": -500, "gain": 500}.get(goal, 0)
    return {
        "calories": calories,
        "proteins_g": calories * 0.30 / 4,
        "fats_g": calories * 0.25 / 9,
        "carbohydrates_g": calories * 0.45 / 4,
    }


def _room(
    room_type: Any, price: float, check_in_date: str, check_out_date: str, customer_id: str, discount_code: Any = None
) -> dict[str, Any]:
    return {
        "customer_id": customer_id,
        "room_number": room_type,
        "check_in_date": check_in_date,
        "check_out_date": check_out_date,
        "total_price": price * 0.9 if discount_code == "DISCOUNT10" else price,
    }


def _food(item: Sequence[str], quantity: Numbers, price: Numbers) -> float:
    return sum(quantity[i] * price[i] for i in range(len(item)))


def _triangle_area(base: float, height: float) -> float:
    return base * height / 2


def _circle_area(radius: float) -> float:
    area: float = math.pi * radius**2
    return area


def _final_velocity(initial_velocity: float, acceleration: float, time: float) -> float:
    return initial_velocity + acceleration * time


def _displacement(initial_velocity: float, acceleration: float, time: float) -> float:
    moved: float = initial_velocity * time + 0.5 * acceleration * time**2
    return moved


def _potential_energy(charge: float, voltage: float) -> float:
    return charge * voltage


def _density(mass: float, volume: float) -> float:
    return mass / volume


def _sorted(array: Sequence[Any], reverse: bool = False) -> list[Any]:
    return sorted(array, reverse=reverse)


def _binary_sum(a: str, b: str) -> str:
    return bin(int(a, 2) + int(b, 2))[2:]  # noqa: FURB116  below zero the leaderboard cuts the sign off, too


FUNCTIONS: Final[Mapping[str, Callable[..., object]]] = MappingProxyType(
    {
        "add_binary_numbers": _binary_sum,
        "book_room": _room,
        "calc_binomial_probability": _binomial,
        "calculate_cosine_similarity": _cosine_similarity,
        "calculate_density": _density,
        "calculate_displacement": _displacement,
        "calculate_electrostatic_potential_energy": _potential_energy,
        "calculate_final_velocity": _final_velocity,
        "calculate_future_value": _future_value,
        "calculate_investment_value": _investment,
        "calculate_mean": _mean,
        "calculate_nutritional_needs": _nutrition,
        "calculate_permutations": _permutations,
        "calculate_standard_deviation": _standard_deviation,
        "calculate_triangle_area": _triangle_area,
        "estimate_derivative": _derivative,
        "geometry_area_circle": _circle_area,
        "get_distance": _distance,
        "get_fibonacci_number": _fibonacci_number,
        "get_fibonacci_sequence": _fibonacci_sequence,
        "get_prime_factors": _prime_factors,
        "linear_regression": _linear_regression,
        "mat_mul": _product,
        "math_factorial": _factorial,
        "math_gcd": _gcd,
        "math_lcm": _lcm,
        "maxPoints": _points_on_a_line,
        "mortgage_calculator": _mortgage,
        "order_food": _food,
        "polygon_area": _polygon_area,
        "quadratic_roots": _quadratic_roots,
        "sort_array": _sorted,
    }
)
"""The functions by the names that models get."""


def make() -> dict[str, Callable[[str], object]]:
    """Make the environment: a function that executes calls, in the form of source, of FUNCTIONS and nothing else."""
    return {"execute": execute}


def execute(source: str) -> object:
    """Return the result of a call. Its errors rise."""
    return execute_source(source, _function)


def _function(callee: ast.expr) -> Callable[..., object]:
    match callee:
        case ast.Name(name) if name in FUNCTIONS:
            return FUNCTIONS[name]
    raise unknown_name(callee)
