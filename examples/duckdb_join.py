"""Records of two DuckDB tables that tell of the same product, asked for in SQL."""

import duckdb
import twinset

shop = duckdb.connect()
shop.execute("CREATE TABLE ours (id INTEGER, text VARCHAR); CREATE TABLE theirs (id INTEGER, text VARCHAR)")
shop.execute("INSERT INTO ours VALUES (1, 'garden chair, oak, foldable'), (2, 'garden table, oak'), (3, 'hammock')")
shop.execute("INSERT INTO theirs VALUES (10, 'Foldable garden chair (oak)'), (11, 'garden hose'), (12, 'oak garden table')")

pairs = twinset.join(
    shop.sql("FROM ours").to_arrow_table(), shop.sql("FROM theirs").to_arrow_table(), threshold=0.9, best=True
)
same = shop.sql(
    """
    SELECT ours.text, theirs.text AS theirs, similarity
    FROM pairs JOIN ours ON pairs.left = ours.id JOIN theirs ON pairs.right = theirs.id ORDER BY ours.id
    """
)
print(same)
assert [row[1] for row in same.fetchall()] == ["Foldable garden chair (oak)", "oak garden table"]
