/** Options of bin/conformance. Pure. */
import { parseArgs } from 'node:util';
import { isVersion, suiteVersion } from './versions.ts';

export interface Options {
  /** Version of Kubernetes whose suite is run. */
  readonly version: string;
  readonly pattern?: RegExp | undefined;
  readonly nodes: number;
  readonly procs: number;
  readonly again: boolean;
  readonly failed: boolean;
  readonly others: boolean;
  readonly dualStack: boolean;
  readonly writeDoc: boolean;
  readonly help: boolean;
  readonly kubeconfig?: string | undefined;
}

export const help = `Runs Kubernetes' own conformance tests against dist/minik8s.

Usage: bin/conformance [REGEX] [FLAGS]

REGEX picks tests by name, such as 'sig-network' or 'EmptyDir.*non-root'; without it all are meant. A test that has a
result is not run again: after Ctrl-C, or when it was killed, the same command goes on.

      --again            run them whether they have a result or not
      --failed           run those that failed
      --others           not the conformance tests: those among all others that REGEX picks, such as '\\[NodeConformance\\]'
      --version X.Y.Z    the suite of this version of Kubernetes (default ${suiteVersion}); each version has its own results
      --nodes COUNT      nodes of the cluster it makes, 1 or 2 (default 1); each count has its own results
      --dual-stack       a cluster with ranges and addresses of IPv4 and IPv6, with results of its own, such as for --others
                         IPv6DualStack
      --procs COUNT      tests at a time (default 6)
      --kubeconfig FILE  use the cluster of that file, and this machine's network; --nodes says how many it has. Its
                         nodes need the images under the suite's names
      --write-doc        write the results to docs/conformance.md, with those of two nodes, of others and of other versions
                         where there are some; runs nothing unless told what
  -h, --help             this page

Programs are built from Go modules once, into ~/.cache/minik8s-conformance, or where MINIK8S_CONFORMANCE_CACHE says.
Results and logs: dist/conformance. Status 0: all that ran have passed; 1: some have not; 2: it was called wrongly.
`;

/** Throws with one line that says what is wrong. */
export function optionsOf(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      again: { type: 'boolean' },
      failed: { type: 'boolean' },
      others: { type: 'boolean' },
      'dual-stack': { type: 'boolean' },
      version: { type: 'string' },
      nodes: { type: 'string' },
      procs: { type: 'string' },
      kubeconfig: { type: 'string' },
      'write-doc': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (positionals.length > 1) throw new Error(`one REGEX, not ${positionals.length}: put it in quotes`);
  const { again = false, failed = false, others = false, help: asked = false } = values;
  if (again && failed) throw new Error('--again and --failed exclude each other');
  if (others && values['write-doc'])
    throw new Error('--others and --write-doc exclude each other: the page has the results of both');
  if (others && positionals[0] === undefined && !asked)
    throw new Error('--others takes a REGEX: the others are thousands');
  const dualStack = values['dual-stack'] ?? false;
  if (dualStack && values['write-doc'])
    throw new Error(
      '--dual-stack and --write-doc exclude each other: the page is about clusters of one family',
    );
  if (dualStack && values.kubeconfig !== undefined)
    throw new Error(
      '--dual-stack and --kubeconfig exclude each other: the cluster of a file has the ranges it has',
    );
  return {
    dualStack,
    version: release(values.version),
    pattern: positionals[0] === undefined ? undefined : expression(positionals[0]),
    nodes: count('--nodes', values.nodes, 1, 2),
    procs: count('--procs', values.procs, 6, 64),
    again,
    failed,
    others,
    writeDoc: values['write-doc'] ?? false,
    help: asked,
    kubeconfig: values.kubeconfig,
  };
}

function release(text = suiteVersion): string {
  if (!isVersion(text)) throw new Error(`--version is a release of Kubernetes such as 1.37.2, not ${text}`);
  return text;
}

function expression(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new Error(`REGEX: ${(error as Error).message}`);
  }
}

function count(flag: string, text: string | undefined, standard: number, most: number): number {
  if (text === undefined) return standard;
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most) throw new Error(`${flag} is a number from 1 to ${most}, not ${text}`);
  return value;
}
