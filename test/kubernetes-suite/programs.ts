/**
 * Kubernetes' programs that the suite needs, built from Go modules into a folder outside the repository,
 * once.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPrograms, linkerFlags, programsCache, type Recipe, suiteVersion } from './build.ts';

export interface Programs {
  readonly suite: string;
  readonly ginkgo: string;
  readonly agnhost: string;
  readonly kubectl: string;
  /** Program of the image nonewprivs. */
  readonly nnp: string;
  /** Programs of the image resource-consumer: the server, and the program that the server starts. */
  readonly consumer: string;
  readonly consumeCpu: string;
  /** The sample API server of the test of aggregation. */
  readonly sampleApiServer: string;
  /** The folder with the key pair that agnhost serves HTTPS with. */
  readonly porter: string;
}

/** The quick ones first. */
const recipes: readonly Recipe[] = [
  { name: 'ginkgo', args: ['build', '-o', 'ginkgo', 'github.com/onsi/ginkgo/v2/ginkgo'] },
  { name: 'agnhost', args: ['build', '-o', 'agnhost', 'k8s.io/kubernetes/test/images/agnhost'] },
  { name: 'nnp', args: ['build', '-o', 'nnp', 'k8s.io/kubernetes/test/images/nonewprivs'] },
  {
    name: 'consumer',
    args: ['build', '-o', 'consumer', 'k8s.io/kubernetes/test/images/resource-consumer'],
  },
  {
    name: 'consume-cpu',
    args: ['build', '-o', 'consume-cpu', 'k8s.io/kubernetes/test/images/resource-consumer/consume-cpu'],
  },
  {
    name: 'kubectl',
    args: ['build', '-ldflags', linkerFlags, '-o', 'kubectl', 'k8s.io/kubernetes/cmd/kubectl'],
  },
  {
    name: 'sample-apiserver',
    args: ['build', '-ldflags', linkerFlags, '-o', 'sample-apiserver', 'k8s.io/sample-apiserver'],
  },
  {
    name: 'e2e.test',
    // Vetting all dependencies takes longer than compiling them.
    args: [
      ...['test', '-c', '-vet=off', '-ldflags', linkerFlags],
      ...['-o', 'e2e.test', 'k8s.io/kubernetes/test/e2e'],
    ],
    note: 'which takes ten minutes the first time',
  },
];

/** The key pair that agnhost serves HTTPS with. */
const porterFiles = ['localhost.key', 'localhost.crt'];

/**
 * Builds what is not there; `say` gets a line for each step. Rejects with Go's first line when it cannot be
 * built.
 */
export async function suitePrograms(say: (line: string) => void): Promise<Programs> {
  const directory = join(programsCache, suiteVersion);
  const at = (name: string) => join(directory, name);
  const missing = recipes.filter(({ name }) => !existsSync(at(name)));
  if (missing.length === 0 && porterFiles.every((file) => existsSync(at(file))))
    say(`programs: those of Kubernetes ${suiteVersion} are there`);
  else {
    await buildPrograms(missing, say, async (source) => {
      for (const file of porterFiles) {
        const content = await readFile(join(source, 'test/images/agnhost/porter', file));
        await writeFile(at(file), content, { mode: 0o644 });
      }
    });
  }
  return {
    suite: at('e2e.test'),
    ginkgo: at('ginkgo'),
    agnhost: at('agnhost'),
    kubectl: at('kubectl'),
    nnp: at('nnp'),
    consumer: at('consumer'),
    consumeCpu: at('consume-cpu'),
    sampleApiServer: at('sample-apiserver'),
    porter: directory,
  };
}
