"""The SQL that stores of record share: engine, tables, rows, validity."""
