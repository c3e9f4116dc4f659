/**
 * Kubernetes' programs that the suite needs, built from Go modules into a folder outside the repository,
 * once.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buildPrograms, programsCache, type Recipe } from './build.ts';
import { linkerFlags } from './versions.ts';

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
  /** Upstream's file of the names and tags of the suite's images. */
  readonly imageManifest: string;
}

/** Returns how each program is made; those that are built quickly come first. */
const recipesOf = (version: string): readonly Recipe[] => [
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
    args: ['build', '-ldflags', linkerFlags(version), '-o', 'kubectl', 'k8s.io/kubernetes/cmd/kubectl'],
  },
  {
    name: 'sample-apiserver',
    args: ['build', '-ldflags', linkerFlags(version), '-o', 'sample-apiserver', 'k8s.io/sample-apiserver'],
  },
  {
    name: 'e2e.test',
    // Vetting all dependencies takes longer than compiling them.
    args: [
      ...['test', '-c', '-vet=off', '-ldflags', linkerFlags(version)],
      ...['-o', 'e2e.test', 'k8s.io/kubernetes/test/e2e'],
    ],
    note: 'which takes ten minutes the first time',
  },
];

/** Files of Kubernetes' source: the key pair that agnhost serves HTTPS with, and the tags of the images. */
const sourceFiles = [
  'test/images/agnhost/porter/localhost.key',
  'test/images/agnhost/porter/localhost.crt',
  'test/utils/image/manifest.go',
];

/**
 * Builds the programs of a version that do not exist yet; `say` gets a line for each step. Rejects with Go's
 * first line if a program cannot be built.
 */
export async function suitePrograms(version: string, say: (line: string) => void): Promise<Programs> {
  const directory = join(programsCache, version);
  const at = (name: string) => join(directory, name);
  const missing = recipesOf(version).filter(({ name }) => !existsSync(at(name)));
  if (missing.length === 0 && sourceFiles.every((file) => existsSync(at(basename(file)))))
    say(`programs: those of Kubernetes ${version} are there`);
  else {
    await buildPrograms(version, missing, say, async (source) => {
      for (const file of sourceFiles)
        await writeFile(at(basename(file)), await readFile(join(source, file)), { mode: 0o644 });
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
    imageManifest: at('manifest.go'),
  };
}
