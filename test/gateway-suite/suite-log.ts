/** Results of the suite's tests in the output of `go test -v`. Pure. */

export interface TestResult {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly seconds: number;
}

const states = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' } as const;

/**
 * Returns the results of the tests themselves, without their parts, in the order of their names. A test that
 * other runs in the output skip has the result of the run that did not skip it.
 */
export function resultsIn(output: string): readonly TestResult[] {
  const found = new Map<string, TestResult>();
  for (const [, word, name = '', seconds] of output.matchAll(
    /^ *--- (PASS|FAIL|SKIP): TestConformance\/([^/\s]+) \(([\d.]+)s\)$/gm,
  )) {
    const state = states[word as keyof typeof states];
    if (state !== 'skipped' || !found.has(name)) found.set(name, { name, state, seconds: Number(seconds) });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the lines of the output in which a part of the test fails. */
export function failuresOf(output: string, name: string): readonly string[] {
  const pattern = new RegExp(`^ *--- FAIL: TestConformance/${name}(/\\S+)`, 'gm');
  return [...output.matchAll(pattern)].map(([, part = '']) => part.slice(1));
}
