"""Near duplicates of a Polars data frame: the most cited of each group is kept."""

import polars
import twinset

papers = polars.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "title": [
            "Efficient similarity joins for near duplicate detection",
            "Efficient Similarity Joins for Near-Duplicate Detection",
            "On the resemblance and containment of documents",
            "Min-wise independent permutations",
        ],
        "citations": [12, 480, 2900, 1800],
    }
)

found = twinset.dedup(papers, text="title", threshold=0.8, keep="max:citations")
kept = polars.DataFrame(found)
print(kept)
assert kept["id"].to_list() == ["b", "c", "d"]
