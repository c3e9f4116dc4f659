/** Kubernetes' programs that the suite needs, built from Go modules into a folder outside the repository, once. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemExec } from '../../src/base/exec.ts';
import { type GoModule, moduleFile } from './module-file.ts';

/** Not every 1.32 has the sums of all its parts in Go's database; this one has. */
export const suiteVersion = '1.32.5';

export interface Programs {
  readonly suite: string;
  readonly ginkgo: string;
  readonly agnhost: string;
  readonly kubectl: string;
  /** Of the image nonewprivs. */
  readonly nnp: string;
  /** The folder with the key pair that agnhost serves HTTPS with. */
  readonly porter: string;
}

const cache =
  process.env.MINIK8S_CONFORMANCE_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'minik8s-conformance');

const versionOf = 'k8s.io/component-base/version';
const stamp = `-X ${versionOf}.gitVersion=v${suiteVersion} -X ${versionOf}.gitMajor=1 -X ${versionOf}.gitMinor=32`;
/** The arguments of `go` that make each; the quick ones first. */
const recipes: Readonly<Record<string, readonly string[]>> = {
  ginkgo: ['build', '-o', 'ginkgo', 'github.com/onsi/ginkgo/v2/ginkgo'],
  agnhost: ['build', '-o', 'agnhost', 'k8s.io/kubernetes/test/images/agnhost'],
  nnp: ['build', '-o', 'nnp', 'k8s.io/kubernetes/test/images/nonewprivs'],
  kubectl: ['build', '-ldflags', `-s -w ${stamp}`, '-o', 'kubectl', 'k8s.io/kubernetes/cmd/kubectl'],
  // To vet all that it depends on takes longer than to compile it.
  'e2e.test': [
    'test',
    '-c',
    '-vet=off',
    '-ldflags',
    `-s -w ${stamp}`,
    '-o',
    'e2e.test',
    'k8s.io/kubernetes/test/e2e',
  ],
};

/** Builds what is not there; `say` gets a line for each step. Rejects with Go's first line when it cannot be built. */
export async function buildPrograms(say: (line: string) => void): Promise<Programs> {
  const directory = join(cache, suiteVersion);
  await mkdir(directory, { recursive: true });
  const missing = Object.keys(recipes).filter((name) => !existsSync(join(directory, name)));
  if (!existsSync(join(directory, 'localhost.crt'))) missing.unshift('localhost.crt');
  if (missing.length === 0) say(`programs: those of Kubernetes ${suiteVersion} are there`);
  else await build(directory, missing, say);
  const at = (name: string) => join(directory, name);
  return {
    suite: at('e2e.test'),
    ginkgo: at('ginkgo'),
    agnhost: at('agnhost'),
    kubectl: at('kubectl'),
    nnp: at('nnp'),
    porter: directory,
  };
}

/** In a folder beside, each program put into its place when it is whole: two may build at the same time. */
async function build(directory: string, missing: readonly string[], say: (line: string) => void) {
  const work = await mkdtemp(join(cache, 'build-'));
  const env = { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0', GOFLAGS: '-mod=mod -buildvcs=false' };
  const go = (...args: string[]) =>
    systemExec('nice', ['-n', '10', 'go', ...args], { cwd: work, env, lengthy: true });
  try {
    say(`programs: fetching Kubernetes ${suiteVersion}`);
    const download = await go('mod', 'download', '-json', `k8s.io/kubernetes@v${suiteVersion}`);
    const source = JSON.parse(download.stdout) as { readonly Dir: string; readonly GoMod: string };
    const upstream = JSON.parse((await go('mod', 'edit', '-json', source.GoMod)).stdout) as GoModule;
    await writeFile(join(work, 'go.mod'), moduleFile(suiteVersion, upstream));
    for (const name of missing) {
      const recipe = recipes[name];
      if (recipe === undefined) {
        const keys = join(source.Dir, 'test/images/agnhost/porter');
        for (const file of ['localhost.key', 'localhost.crt'])
          await writeFile(join(directory, file), await readFile(join(keys, file)), { mode: 0o644 });
        continue;
      }
      say(
        `programs: building ${name}${name === 'e2e.test' ? ', which takes ten minutes the first time' : ''}`,
      );
      await go(...recipe);
      await rename(join(work, name), join(directory, name));
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
