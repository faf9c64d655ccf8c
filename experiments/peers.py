"""Runs one peer, or the Python package, from raw text to pairs: peers.py TOOL DOCUMENTS THRESHOLD SHINGLE OUTPUT

DOCUMENTS has one text a line. OUTPUT gets one pair of line numbers, from 0, a line. Every tool is used the way its
documentation shows for speed, with 128 hash functions where it has any; what a sketch finds is kept if the sketch itself
estimates it at or above the threshold.
"""

import re
import sys

PERMUTATIONS = 128


def shingles(text, length):
    words = re.findall(r"\w+", text.lower())
    if len(words) <= length:
        return {" ".join(words)} if words else set()
    return {" ".join(words[at : at + length]) for at in range(len(words) - length + 1)}


def set_similarity_search(texts, threshold, length):
    from SetSimilaritySearch import all_pairs

    sets = [shingles(text, length) for text in texts]
    for x, y, _ in all_pairs(sets, similarity_func_name="jaccard", similarity_threshold=threshold):
        yield x, y


def datasketch(texts, threshold, length):
    from datasketch import MinHash, MinHashLSH

    sets = ([shingle.encode() for shingle in shingles(text, length)] for text in texts)
    sketches = MinHash.bulk(sets, num_perm=PERMUTATIONS)
    index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
    for number, sketch in enumerate(sketches):
        for other in index.query(sketch):
            if sketch.jaccard(sketches[other]) >= threshold:
                yield other, number
        index.insert(number, sketch, check_duplication=False)


def rensa(texts, threshold, length):
    from rensa import RMinHash, RMinHashLSH

    sets = [list(shingles(text, length)) for text in texts]
    sketches = RMinHash.from_token_sets(sets, PERMUTATIONS, 42)
    index = RMinHashLSH(threshold, PERMUTATIONS, 16)
    index.insert_many(sketches)
    for number, others in enumerate(index.query_all(sketches)):
        for other in others:
            if other < number and sketches[other].jaccard(sketches[number]) >= threshold:
                yield other, number


def gaoya(texts, threshold, length):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=threshold,
        num_bands=None,
        band_size=None,
        num_hashes=PERMUTATIONS,
        analyzer="word",
        lowercase=True,
        ngram_range=(length, length),
    )
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    for number, others in enumerate(index.par_bulk_query(texts)):
        for other in others:
            if other < number:
                yield other, number


def twinset(texts, threshold, length):
    import twinset

    pairs = twinset.join(texts, threshold=threshold, tokens=f"shingles:{length}", repeats="ignore")
    return zip(pairs["left"].to_pylist(), pairs["right"].to_pylist())


TOOLS = {"twinset": twinset, "SetSimilaritySearch": set_similarity_search, "datasketch": datasketch, "rensa": rensa, "gaoya": gaoya}


def main():
    tool, documents, threshold, length, output = sys.argv[1:]
    with open(documents, encoding="utf-8", newline="\n") as file:
        texts = [line.rstrip("\n") for line in file]
    with open(output, "w", encoding="utf-8") as file:
        for x, y in TOOLS[tool](texts, float(threshold), int(length)):
            file.write(f"{min(x, y)},{max(x, y)}\n")


main()
