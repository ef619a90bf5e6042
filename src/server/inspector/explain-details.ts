import type { Report, RuleReport } from '../../gateway/offline/explain-request.ts';
import type { RuleDetail } from '../../inspector/contract/exchange-detail.ts';

/** A report for the live page: all rules on the request, and those that match the outgoing request. */
export function toDetails({ rules, outgoing = [] }: Report): readonly RuleDetail[] {
  const leaving = outgoing.flatMap(({ rules: there }) => there.filter(({ matched }) => matched));
  return [
    ...rules.map((rule) => toDetail(rule, 'request')),
    ...leaving.map((rule) => toDetail(rule, 'outgoing')),
  ];
}

function toDetail(report: RuleReport, on: RuleDetail['on']): RuleDetail {
  const { policy, rule, action, mode, reason, matched, matches, microseconds } = report;
  return { policy, rule, action, mode, reason, matched, on, matches, microseconds };
}
