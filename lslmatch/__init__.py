"""Match two sets of noisy points up to permutation, scale and shift, with a proof of optimality."""

from lslmatch import model, plot, theory
from lslmatch._frames import ColumnNamesWarning
from lslmatch.alignment.doubt import AlignmentWarning
from lslmatch.alignment.moments import estimate_affine, standardize
from lslmatch.assignment.solve import linear_sum_assignment, solve_assignment
from lslmatch.certificate.checking import check_certificate
from lslmatch.columns.doubt import ColumnScaleWarning
from lslmatch.costs import log_cost_matrix
from lslmatch.diagnosis.diagnose import diagnose
from lslmatch.diagnosis.outcome import Diagnosis
from lslmatch.diagnosis.relation import relation_p_value
from lslmatch.matcher import Matcher
from lslmatch.matching import match
from lslmatch.matching_many import match_many
from lslmatch.matching_path import MatchPath, match_path
from lslmatch.plane.proving import prove_everywhere
from lslmatch.report.page import make_report
from lslmatch.results import (
    Affine,
    Assignment,
    ColumnMap,
    Covariance,
    FalseShare,
    LinearMap,
    MatchResult,
    ProfileCurve,
    Similarity,
    TurnProof,
)
from lslmatch.stored import load

__version__ = "0.1.0"

__all__ = [
    "Affine",
    "AlignmentWarning",
    "Assignment",
    "ColumnMap",
    "ColumnNamesWarning",
    "ColumnScaleWarning",
    "Covariance",
    "Diagnosis",
    "FalseShare",
    "LinearMap",
    "MatchPath",
    "MatchResult",
    "Matcher",
    "ProfileCurve",
    "Similarity",
    "TurnProof",
    "check_certificate",
    "diagnose",
    "estimate_affine",
    "linear_sum_assignment",
    "load",
    "log_cost_matrix",
    "make_report",
    "match",
    "match_many",
    "match_path",
    "model",
    "plot",
    "prove_everywhere",
    "relation_p_value",
    "solve_assignment",
    "standardize",
    "theory",
]
