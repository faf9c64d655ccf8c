# %% [markdown]
# # Near duplicates in Python, step by step
#
# A notebook as a script: editors that know `# %%` run it cell by cell.

# %%
import twinset

titles = [
    "Efficient similarity joins for near duplicate detection",
    "Efficient Similarity Joins for Near-Duplicate Detection",
    "Efficient similarity joins for near duplicate detection (extended version)",
    "On the resemblance and containment of documents",
    "Scaling up all pairs similarity search",
    "Scaling Up All-Pairs Similarity Search",
]

# %% [markdown]
# Which threshold? See what each would give.

# %%
print(twinset.tune(titles).select(["threshold", "pairs", "groups"]).to_pandas())

# %% [markdown]
# All pairs at 0.7, as a table of positions, and why two of them are a pair.

# %%
pairs = twinset.join(titles, threshold=0.7)
print(pairs.to_pandas())
assert pairs.num_rows == 4

told = twinset.explain(titles, 0, 2, threshold=0.7)
print(told["measures"]["jaccard"])

# %% [markdown]
# One of each group.

# %%
found = twinset.dedup(titles, threshold=0.7, keep="longest")
print(found.kept.to_pandas())
assert found.kept.num_rows == 3

# %% [markdown]
# By sketches, with an estimate and its 95% interval, for what is too large to compare exactly.

# %%
print(twinset.join(titles, threshold=0.7, method="minhash", permutations=256).to_pandas())
