/** Text of docs/conformance.md, made from results. Pure. */
import { reasonNotToRun } from './not-run.ts';
import type { Recorded, Results } from './results.ts';
import { byCause, counts, failuresOf } from './table.ts';

export interface Measured {
  readonly suiteVersion: string;
  readonly nodes: number;
  /** Results of the whole suite. */
  readonly names: readonly string[];
  readonly results: Results;
  /** Results of the same tests on a cluster of two nodes, where they ran there too. */
  readonly onTwoNodes?: Results | undefined;
  /** Results of tests that are not conformance tests, where some ran. */
  readonly others?: Results | undefined;
}

/**
 * Returns the page, with a section for each other version that has results. Throws if the main version has no
 * result: a page of zeros would look as if nothing failed.
 */
export function conformanceDoc(
  { suiteVersion, nodes, names, results, onTwoNodes, others }: Measured,
  otherVersions: readonly Measured[] = [],
): string {
  const total = counts(names, results).at(-1);
  if (total === undefined || total.passed + total.failed === 0)
    throw new Error('there is no result to write: run bin/conformance first');
  const cluster = nodes === 1 ? 'one node' : `${nodes} nodes`;
  return `${[
    "# Kubernetes' conformance suite",
    `\`bin/conformance --write-doc\` made this page from the results of Kubernetes' own tests, version ${suiteVersion}.
They ran on a cluster of ${cluster} of \`dist/minik8s\`, ${buildsOf(names, results)}. Of ${names.length} conformance tests
**${total.passed} passed**, ${total.failed} failed, and ${total.notRun} did not run.`,
    `To repeat it, on a machine with Go 1.23 or later:

    bin/conformance                   every test that can run, once each
    bin/conformance 'sig-network'     the tests of an area
    bin/conformance --nodes 2         every test that can run on two nodes
    bin/conformance --version 1.37.2  the suite of another version, which needs that version's Go
    bin/conformance --others '\\[NodeConformance\\]'   tests that are not conformance tests
    bin/conformance --help`,
    `The programs are Kubernetes' own. Their images are stand-ins, since no registry is asked: agnhost is upstream's
program with busybox, bash and a few programs of Debian; the web servers are busybox's. The results are no
certification.`,
    `[Our own tests of the network](conformance-network.md) take the steps of some of these tests.`,
    '## By area',
    table(names, results),
    ...(onTwoNodes ? twoNodes(names, results, onTwoNodes) : []),
    ...(others ? notConformance(others) : []),
    '## Failed',
    ...failed(failuresOf(names, results)),
    '## Not run',
    ...notRun(names, results, nodes),
    ...otherVersions.flatMap(versionSection),
  ].join('\n\n')}\n`;
}

/** Returns the counts and lists of a version beside the main one. */
function versionSection({ suiteVersion, nodes, names, results }: Measured): string[] {
  const total = counts(names, results).at(-1);
  if (total === undefined || total.passed + total.failed === 0) return [];
  return [
    `## Kubernetes ${suiteVersion}`,
    `The suite of version ${suiteVersion} (\`bin/conformance --version ${suiteVersion}\`), on \`dist/minik8s\`,
${buildsOf(names, results)}. Of ${names.length} conformance tests **${total.passed} passed**, ${total.failed} failed, and ${total.notRun} did not run.`,
    table(names, results),
    `### Failed with ${suiteVersion}`,
    ...failed(failuresOf(names, results)),
    `### Not run with ${suiteVersion}`,
    ...notRun(names, results, nodes),
  ];
}

const buildsOf = (names: readonly string[], results: Results) =>
  [...new Set(names.flatMap((name) => results.get(name)?.build ?? []))].sort().join(' and ');

/** Returns the counts on two nodes, and the tests whose results differ from those below on the page. */
function twoNodes(names: readonly string[], results: Results, onTwoNodes: Results): string[] {
  const total = counts(names, onTwoNodes).at(-1);
  if (total === undefined || total.passed + total.failed === 0) return [];
  const stateOf = (from: Results, name: string) => {
    const state = from.get(name)?.state ?? 'skipped';
    return state === 'skipped' ? 'did not run' : state;
  };
  const others = names.filter((name) => stateOf(results, name) !== stateOf(onTwoNodes, name));
  const lines = others.map(
    (name) => `- ${escaped(name)}: ${stateOf(onTwoNodes, name)} (below: ${stateOf(results, name)})`,
  );
  return [
    '## On two nodes',
    `Of \`dist/minik8s\`, ${buildsOf(names, onTwoNodes)}, on two hosts of one link (\`bin/conformance --nodes 2\`):
**${total.passed} passed**, ${total.failed} failed, and ${total.notRun} did not run.`,
    lines.length === 0
      ? 'Every test had the same result as in the lists below.'
      : `Tests with another result:\n\n${lines.join('\n')}`,
  ];
}

/** Lists the passed tests by area, and each other test with its message. */
function notConformance(results: Results): string[] {
  const names = [...results.keys()].sort();
  const total = counts(names, results).at(-1);
  if (total === undefined || names.length === 0) return [];
  const lines = names.flatMap((name) => {
    const { state, message } = results.get(name) ?? { state: 'passed', message: '' };
    return state === 'passed' ? [] : [`- ${escaped(name)}: ${state}: ${escaped(message)}`];
  });
  return [
    '## Tests that are not conformance tests',
    `The suite has thousands of other tests. Of those that ran (\`bin/conformance --others REGEX\`; \`dist/minik8s\`,
${buildsOf(names, results)}) **${total.passed} passed**, ${total.failed} failed, and ${total.notRun} were skipped by the suite itself.`,
    table(names, results),
    ...(lines.length === 0 ? [] : [`Tests that did not pass, with their messages:\n\n${lines.join('\n')}`]),
  ];
}

function table(names: readonly string[], results: Results): string {
  const rows = counts(names, results).map(
    ({ area, passed, failed: not, notRun: left }) => `| ${area} | ${passed} | ${not} | ${left} |`,
  );
  return ['| area | passed | failed | not run |', '| --- | ---: | ---: | ---: |', ...rows].join('\n');
}

function failed(failures: readonly Recorded[]): string[] {
  if (failures.length === 0) return ['None.'];
  return byCause(failures).map(([cause, tests]) =>
    section(
      cause ?? 'not yet examined',
      tests.map(({ name }) => name),
    ),
  );
}

function notRun(names: readonly string[], results: Results, nodes: number): string[] {
  const left = names.filter((name) => !['passed', 'failed'].includes(results.get(name)?.state ?? ''));
  const reasonOf = (name: string) =>
    results.get(name)?.state === 'skipped'
      ? 'the suite itself skips them on such a cluster'
      : (reasonNotToRun(name, nodes) ?? 'no result yet');
  if (left.length === 0) return ['None.'];
  return [...Map.groupBy(left, reasonOf)].map(([reason, tests]) => section(reason, tests));
}

const section = (reason: string, names: readonly string[]) =>
  [
    `${reason[0]?.toUpperCase()}${reason.slice(1)} (${names.length}):\n`,
    ...names.map((name) => `- ${escaped(name)}`),
  ].join('\n');

/** Escapes brackets, stars and other characters that would be markup. */
const escaped = (name: string) => name.replaceAll(/[*_<>\\[\]]/g, '\\$&');
