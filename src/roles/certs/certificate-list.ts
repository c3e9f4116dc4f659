/** The certificates of a machine as a table for people. */
import { TableWriter } from '../../cli/printers/table-writer.ts';
import type { CheckedCertificate } from './check-plan.ts';

const headers = ['SUBJECT', 'ISSUER', 'EXPIRES', 'DAYS', 'RENEWED BY'];

/** Returns a table of all certificates, their files and names, and a line for each that needs attention. */
export function formatCertificates(checked: readonly CheckedCertificate[]): string {
  const rows = checked.map(({ subject, issuer, notAfter = '', daysLeft = '', renewedBy, problem }) => [
    `${problem === undefined ? ' ' : '!'} ${subject || '<unreadable>'}`,
    issuer,
    notAfter.slice(0, 16).replace('T', ' '),
    String(daysLeft),
    renewedBy,
  ]);
  const [head = '', ...lines] = new TableWriter().format(rows, headers).split('\n');
  const body = checked.flatMap(({ names, ...certificate }, index) => [
    lines[index] ?? '',
    `    ${placeOf(certificate)}`,
    ...(names.length > 0 ? [`    for ${names.join(', ')}`] : []),
  ]);
  const bad = checked.flatMap(({ problem, remedy, ...certificate }) =>
    problem === undefined ? [] : [`${placeOf(certificate)}: ${problem}; to mend it: ${remedy}`],
  );
  return `${[head, ...body, ...(bad.length > 0 ? ['', ...bad] : [])].join('\n')}\n`;
}

const placeOf = ({ path, entry }: Pick<CheckedCertificate, 'path' | 'entry'>) =>
  entry === undefined ? path : `${path} (${entry})`;
