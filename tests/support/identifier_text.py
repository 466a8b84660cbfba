"""Collects text of many languages for `kformer.identify`, from clones of public repositories.

PYTHONPATH=tests python -m support.identifier_text CLONES TEXT

CLONES is a folder with the git repositories of `REPOSITORIES` and the treebanks in `LANGUAGES`,
each in a folder "owner+name/repo", or "name"; their licences are in the guide of
`kformer.identification`. The text is written to the folder TEXT as lines of language, source and
text, parted by tabs: `train.tsv`, and `kept.tsv`, of every twentieth text and of two sources of
which nothing is in `train.tsv`: FLORES-200, and the test text of lingua, of Leipzig's corpora.
"""

import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

TEST_SETS = "Helsinki-NLP/OPUS-MT-testsets"  # Tatoeba, TICO-19 and FLORES-200.
NTREX = "MicrosoftTranslator/NTREX"
COMMON_VOICE = "mozilla/voice-web"
WORDS = "hermitdave/FrequencyWords"
LEIPZIG = "pemistahl/lingua-py"
REPOSITORIES = (TEST_SETS, NTREX, COMMON_VOICE, WORDS, LEIPZIG)
TATOEBA_FOLDER = "datasets/helsinki_nlp/tatoeba/testsets/"
TICO_FOLDER = "datasets/tico19/testsets/"
FLORES_FOLDER = "datasets/facebook/flores/flores200_dataset/devtest/"
PARTS_OF_LEIPZIG = ("sentences", "word-pairs", "single-words")

# Language, and its names in FLORES, NTREX, Tatoeba, Common Voice, FrequencyWords, TICO-19 and
# Universal Dependencies.
LANGUAGES = """
af afr_Latn afr afr af af - Afrikaans-AfriBooms
ar arb_Arab arb ara ar ar ar -
az azj_Latn aze-Latn aze az - - -
be bel_Cyrl bel bel be - - Belarusian-HSE
bg bul_Cyrl bul bul bg bg - -
ca cat_Latn cat cat ca ca - -
ckb ckb_Arab ckb-Arab - ckb - ckb -
cs ces_Latn ces ces cs cs - -
cy cym_Latn cym cym cy - - Welsh-CCG
da dan_Latn dan dan da da - Danish-DDT
de deu_Latn deu deu de de - -
en eng_Latn eng-GB,eng-US,eng-IN eng en en en -
eo epo_Latn - epo eo eo - -
es spa_Latn spa,spa-MX spa es es es_LA -
et est_Latn est est et et - -
eu eus_Latn eus eus eu eu - -
fa pes_Arab fas pes fa fa fa Persian-PerDT
fi fin_Latn fin fin fi fi - -
fr fra_Latn fra,fra-CA fra fr fr fr -
ga gle_Latn gle gle ga-IE - - Irish-IDT
gl glg_Latn glg glg gl gl - -
hi hin_Deva hin hin hi hi hi -
hr hrv_Latn hrv - hr hr - Croatian-SET
hu hun_Latn hun hun hu hu - -
id ind_Latn ind ind id id id Indonesian-GSD
is isl_Latn isl isl - is - Icelandic-Modern,Icelandic-GC
it ita_Latn ita ita it it - -
kk kaz_Cyrl kaz kaz_Cyrl kk - - -
ky kir_Cyrl kir kir ky - - -
lt lit_Latn lit lit lt lt - Lithuanian-ALKSNIS
lv lvs_Latn lav lav lv lv - Latvian-LVTB
mk mkd_Cyrl mkd mkd mk mk - -
mn khk_Cyrl mon khk mn - - -
mr mar_Deva mar mar mr - mr -
ms zsm_Latn msa zsm - ms ms -
mt mlt_Latn mlt mlt mt - - -
nb nob_Latn nob nob nb-NO - - Norwegian-Bokmaal
ne npi_Deva nep npi ne-NP - ne -
nl nld_Latn nld nld nl nl - -
nn nno_Latn nno nno - - - Norwegian-Nynorsk
pl pol_Latn pol pol pl pl - -
ps pbt_Arab pus - - - ps -
pt por_Latn por,por-BR por pt pt,pt_br - -
ro ron_Latn ron ron ro ro - Romanian-RRT
ru rus_Cyrl rus rus ru ru ru Russian-Taiga
sk slk_Latn slk slk sk sk - Slovak-SNK
sl slv_Latn slv slv sl sl - Slovenian-SSJ
sq als_Latn sqi sqi - sq - -
sr srp_Cyrl srp-Cyrl srp_Cyrl sr - - -
sv swe_Latn swe swe sv-SE sv - Swedish-Talbanken
sw swh_Latn swa swh,swa - - sw -
tl tgl_Latn fil tgl - tl tl -
tr tur_Latn tur tur tr tr - -
uk ukr_Cyrl ukr ukr uk uk - -
ur urd_Arab urd urd ur ur ur -
uz uzn_Latn uzb uzb_Latn uz - - -
vi vie_Latn vie vie vi vi - Vietnamese-VTB
"""
# Languages that have a script of their own, with their names in FLORES. They need no training.
OF_OWN_SCRIPT = (
    "el:ell_Grek hy:hye_Armn he:heb_Hebr ka:kat_Geor th:tha_Thai lo:lao_Laoo km:khm_Khmr "
    "my:mya_Mymr bn:ben_Beng pa:pan_Guru gu:guj_Gujr or:ory_Orya ta:tam_Taml te:tel_Telu "
    "kn:kan_Knda ml:mal_Mlym si:sin_Sinh ja:jpn_Jpan ko:kor_Hang zh:zho_Hans"
)
# Languages of NTREX, and others of FLORES, that count as unknown.
STRANGERS = (
    "hau ibo kin mlg mri nde nso nya orm smo sna-Latn som ssw tah ton tsn ven wol xho yor zul fij "
    "ewe hmn kmr tuk fao ltz bem fuc bak tat tgk-Cyrl uig snd-Arab"
)
KEPT_STRANGERS = (
    "aka_Latn ayr_Latn bam_Latn ceb_Latn cjk_Latn fon_Latn gla_Latn grn_Latn hat_Latn ilo_Latn "
    "kab_Latn kac_Latn kbp_Latn lin_Latn lug_Latn luo_Latn lus_Latn min_Latn nus_Latn pag_Latn "
    "quy_Latn sag_Latn tso_Latn tpi_Latn tum_Latn umb_Latn war_Latn kas_Arab knc_Arab san_Deva "
    "mni_Beng"
)
UNKNOWN = "und"
NOTHING = "-"
KEPT = 20  # One text of so many is kept.
MOST_CHARACTERS = 600
MOST_WORDS = 20_000  # Rare words of subtitles are often names, or words of other languages.


class Clones:
    """Git repositories in a folder, read without a work tree."""

    def __init__(self, folder: Path):
        self._folder = folder

    def files(self, repository: str, folder: str) -> list[str]:
        """Returns the paths of the files in a folder of a repository."""
        names = self._git(repository, "ls-tree", "-r", "--name-only", "HEAD", "--", folder)
        return names.decode().splitlines()

    def lines(self, repository: str, path: str) -> list[str]:
        """Returns the lines of a file; none, with a remark, if the clone lacks it."""
        try:
            content = self._git(repository, "show", f"HEAD:{path}")
        except subprocess.CalledProcessError:
            print(f"{repository} lacks {path}", file=sys.stderr)
            return []
        return [" ".join(line.split()) for line in content.decode("utf-8", "replace").split("\n")]

    def _git(self, repository, *arguments):
        folder = self._folder / repository.replace("/", "+") / "repo"
        if not folder.exists():
            folder = self._folder / repository.partition("/")[2]
        command = ["git", "-C", folder, *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout


def sentences(clones: Clones, row: list[str]) -> Iterator[tuple[str, str]]:
    """Yields source and text of the sentences of a row of `LANGUAGES`."""
    code, _, ntrex, tatoeba, voice, _, tico, treebanks = row
    is_serbian = code == "sr"  # Of which each source has a part in Latin letters.
    for name in _names(ntrex, "srp-Latn" * is_serbian):
        path = f"NTREX-128/newstest2019-ref.{name}.txt"
        yield from _of("ntrex", clones.lines(NTREX, path))
    names = _names(tatoeba, "srp_Latn" * is_serbian)
    texts: set[str] = set()  # A sentence stands in a file for each other language.
    for path in clones.files(TEST_SETS, TATOEBA_FOLDER):
        if path.rpartition(".")[2] in names:
            texts.update(clones.lines(TEST_SETS, path))
    yield from _of("tatoeba", sorted(texts))
    for name in _names(voice):
        for path in clones.files(COMMON_VOICE, f"server/data/{name}/"):
            if "wiki." not in path and "europarl" not in path:
                yield from _of("common-voice", clones.lines(COMMON_VOICE, path))
    for name in _names(tico):
        paths = clones.files(TEST_SETS, TICO_FOLDER)
        path = next(path for path in paths if path.endswith(f"/tico19-test.{name}"))
        yield from _of("tico19", clones.lines(TEST_SETS, path))
    for name in _names(treebanks, "Serbian-SET" * is_serbian):
        treebank = f"UniversalDependencies/UD_{name}"
        for path in clones.files(treebank, "."):
            if path.endswith(".conllu") and "/" not in path:
                lines = clones.lines(treebank, path)
                mark = "# text = "
                yield from _of("ud", [line[len(mark) :] for line in lines if line.startswith(mark)])


def frequent_words(clones: Clones, row: list[str]) -> Iterator[str]:
    """Yields the most frequent words of subtitles in the language of a row of `LANGUAGES`."""
    for name in _names(row[5]):
        folder = f"content/2018/{name}/{name}"
        lines = clones.lines(WORDS, f"{folder}_50k.txt") or clones.lines(
            WORDS, f"{folder}_full.txt"
        )
        for line in lines[:MOST_WORDS]:
            word = line.partition(" ")[0]
            if word.isalpha() and len(word) > 1:
                yield word


def kept_text(clones: Clones, code: str, flores: str) -> Iterator[tuple[str, str]]:
    """Yields source and text of a language in FLORES and, if it is there, in the test of lingua."""
    yield from _of("flores", clones.lines(TEST_SETS, f"{FLORES_FOLDER}{flores}.devtest"))
    for part in PARTS_OF_LEIPZIG:
        path = f"language-testdata/{part}/{code}.txt"
        if path in clones.files(LEIPZIG, "language-testdata"):
            yield from _of(f"leipzig-{part}", clones.lines(LEIPZIG, path))


def _names(names, more=""):
    return [name for name in (*names.split(","), more) if name and name != NOTHING]


def _of(source: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((source, line) for line in lines if line)


def _is_kept(text):
    number = hashlib.blake2b(text.encode(), digest_size=4).digest()
    return int.from_bytes(number) % KEPT == 0


def main():
    clones, folder = Clones(Path(sys.argv[1])), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    train: dict[tuple[str, str, str], None] = {}
    kept: dict[tuple[str, str, str], None] = {}
    for row in map(str.split, LANGUAGES.strip().splitlines()):
        code, flores = row[:2]
        for source, text in sentences(clones, row):
            if 2 < len(text) <= MOST_CHARACTERS and "\ufffd" not in text:
                (kept if _is_kept(text) else train)[code, source, text] = None
        train.update(((code, "words", word), None) for word in frequent_words(clones, row))
        kept.update(((code, *pair), None) for pair in kept_text(clones, code, flores))
    for pair in OF_OWN_SCRIPT.split():
        code, flores = pair.split(":")
        kept.update(((code, *pair), None) for pair in kept_text(clones, code, flores))
    for name in STRANGERS.split():
        lines = clones.lines(NTREX, f"NTREX-128/newstest2019-ref.{name}.txt")
        train.update(((UNKNOWN, *pair), None) for pair in _of(f"ntrex-{name}", lines))
    for name in KEPT_STRANGERS.split():
        lines = clones.lines(TEST_SETS, f"{FLORES_FOLDER}{name}.devtest")
        kept.update(((UNKNOWN, *pair), None) for pair in _of(f"flores-{name}", lines))
    for file, rows in (("train.tsv", train), ("kept.tsv", kept)):
        with (folder / file).open("w", encoding="utf-8") as output:
            output.writelines("\t".join(row) + "\n" for row in rows)
    for code, number in sorted(Counter(code for code, _, _ in train).items()):
        print(f"{code} {number:,}")


if __name__ == "__main__":
    main()
