# SPDX-License-Identifier: GPL-3.0-or-later
"""Fraction: that of Python, with its sums, products and comparisons in short ways, since they were a third of the time of
the plain walks. Other numbers than it and whole ones take Python's way."""
import fractions
from math import gcd

Plain = fractions.Fraction
new = object.__new__


def of(numerator, denominator):
    """The value of two numbers without a common factor."""
    value = new(Fraction)
    value._numerator, value._denominator = numerator, denominator
    return value


def reduced(numerator, denominator):
    common = gcd(numerator, denominator)
    return of(numerator // common, denominator // common)


class Fraction(Plain):
    __slots__ = ()

    def __add__(self, other):
        if type(other) is int:
            return of(self._numerator + other * self._denominator, self._denominator)
        if type(other) is not Fraction:
            return Plain.__add__(self, other)
        if self._denominator == other._denominator:
            return reduced(self._numerator + other._numerator, self._denominator)
        return reduced(self._numerator * other._denominator + other._numerator * self._denominator,
                       self._denominator * other._denominator)

    def __radd__(self, other):
        return self + other if type(other) is int else Plain.__radd__(self, other)

    def __sub__(self, other):
        if type(other) is int:
            return of(self._numerator - other * self._denominator, self._denominator)
        if type(other) is not Fraction:
            return Plain.__sub__(self, other)
        if self._denominator == other._denominator:
            return reduced(self._numerator - other._numerator, self._denominator)
        return reduced(self._numerator * other._denominator - other._numerator * self._denominator,
                       self._denominator * other._denominator)

    def __rsub__(self, other):
        if type(other) is int:
            return of(other * self._denominator - self._numerator, self._denominator)
        return Plain.__rsub__(self, other)

    def __mul__(self, other):
        if type(other) is int:
            return reduced(self._numerator * other, self._denominator)
        if type(other) is Fraction:
            return reduced(self._numerator * other._numerator, self._denominator * other._denominator)
        return Plain.__mul__(self, other)

    def __rmul__(self, other):
        return self * other if type(other) is int else Plain.__rmul__(self, other)

    def __truediv__(self, other):
        if type(other) is int and other > 0:
            return reduced(self._numerator, self._denominator * other)
        if type(other) is Fraction and other._numerator > 0:
            return reduced(self._numerator * other._denominator, self._denominator * other._numerator)
        return Plain.__truediv__(self, other)

    def __rtruediv__(self, other):
        if type(other) is int and self._numerator > 0:
            return reduced(other * self._denominator, self._numerator)
        return Plain.__rtruediv__(self, other)

    def __neg__(self):
        return of(-self._numerator, self._denominator)

    def __floordiv__(self, other):
        if type(other) is int:
            return self._numerator // (self._denominator * other)
        return Plain.__floordiv__(self, other)

    def __mod__(self, other):
        if type(other) is int:
            return reduced(self._numerator % (self._denominator * other), self._denominator)
        return Plain.__mod__(self, other)

    def __eq__(self, other):
        if type(other) is int:
            return self._numerator == other and self._denominator == 1
        if type(other) is Fraction:
            return self._numerator == other._numerator and self._denominator == other._denominator
        return Plain.__eq__(self, other)

    __hash__ = Plain.__hash__

    def __lt__(self, other):
        if type(other) is int:
            return self._numerator < other * self._denominator
        if type(other) is Fraction:
            return self._numerator * other._denominator < other._numerator * self._denominator
        return Plain.__lt__(self, other)

    def __le__(self, other):
        if type(other) is int:
            return self._numerator <= other * self._denominator
        if type(other) is Fraction:
            return self._numerator * other._denominator <= other._numerator * self._denominator
        return Plain.__le__(self, other)

    def __gt__(self, other):
        if type(other) is int:
            return self._numerator > other * self._denominator
        if type(other) is Fraction:
            return self._numerator * other._denominator > other._numerator * self._denominator
        return Plain.__gt__(self, other)

    def __ge__(self, other):
        if type(other) is int:
            return self._numerator >= other * self._denominator
        if type(other) is Fraction:
            return self._numerator * other._denominator >= other._numerator * self._denominator
        return Plain.__ge__(self, other)
