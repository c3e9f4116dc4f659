/** The report of `minik8s doctor`, for a person and for a program. Pure. */
import { exitStatusOf, type Finding, type Severity, severities, worstOf } from './finding.ts';

/** A change that --fix tried. */
export interface Fixed {
  readonly command: string;
  /** Reason why it failed; absent if it did not. */
  readonly problem?: string;
}

/** Version of the form of the JSON document; a newer one may have more fields. */
const documentVersion = 1;

/** Returns the JSON document that docs/doctor.md describes. */
export function reportJson(findings: readonly Finding[], fixed: readonly Fixed[]): string {
  const document = {
    version: documentVersion,
    severity: worstOf(findings),
    exitStatus: exitStatusOf(findings),
    fixed,
    findings: findings.map(({ fix, ...finding }) => ({ ...finding, isFixable: fix !== undefined })),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/**
 * Returns the report: worst findings last, so that they are on the screen. `emphasize` formats the severity
 * of warnings and faults.
 */
export function reportText(
  findings: readonly Finding[],
  fixed: readonly Fixed[],
  emphasize: (text: string) => string,
): string {
  const lines = severities.flatMap((severity) =>
    findings.filter((finding) => finding.severity === severity).map((finding) => entry(finding, emphasize)),
  );
  const changes = fixed.map(({ command, problem }) =>
    problem === undefined ? `fixed: ${command}\n` : `not fixed: ${command}: ${problem}\n`,
  );
  return `${lines.join('')}${changes.join('')}${summary(findings)}\n`;
}

function entry(
  { severity, check, node, found, why, mend }: Finding,
  emphasize: (text: string) => string,
): string {
  const label = severity.padEnd(8);
  const where = node === undefined ? '' : `${node}: `;
  return [
    `${isTrouble(severity) ? emphasize(label) : label}${where}${check}: ${found}\n`,
    ...(why === undefined ? [] : [`        ${why}\n`]),
    ...(mend === undefined ? [] : [`        ${where}# ${mend}\n`]),
  ].join('');
}

const isTrouble = (severity: Severity) => severity === 'warning' || severity === 'fault';

function summary(findings: readonly Finding[]): string {
  const counts = severities.toReversed().map((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return `${count} ${severity === 'ok' || count === 1 ? severity : `${severity}s`}`;
  });
  return counts.join(', ');
}
