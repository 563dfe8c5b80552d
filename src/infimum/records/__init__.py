"""What a search leaves behind.

Knows:      intervals, boxes, why a search ended.
Never knows: functions, how a bound was found.
Hands on:   Result, which can be read, printed and written to a file.
Trust:      proof. A number that is printed is rounded outward; a box that is joined to another is never lost.
"""
