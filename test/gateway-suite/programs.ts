/** Programs of the Gateway API's conformance suite, built from its published Go module. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemExec } from '../../src/os/exec.ts';
import { programsCache } from '../kubernetes-suite/build.ts';

/** The version of the definitions in src/features/gateway/api/schemas.gen.ts. */
export const suiteVersion = '1.5.1';

const suiteModule = 'sigs.k8s.io/gateway-api/conformance';

export interface Programs {
  /** The suite. */
  readonly suite: string;
  /** The backend that answers with the request. */
  readonly echo: string;
  /** Names of the images of the suite's manifests. */
  readonly images: readonly string[];
}

/** Builds the programs that are not in the cache yet. Rejects with Go's first line if one cannot be built. */
export async function suitePrograms(say: (line: string) => void): Promise<Programs> {
  const directory = join(programsCache, `gateway-${suiteVersion}`);
  const files = { suite: join(directory, 'conformance.test'), echo: join(directory, 'echo-basic') };
  await mkdir(directory, { recursive: true });
  const work = await mkdtemp(join(programsCache, 'build-'));
  const env = { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0', GOFLAGS: '-mod=mod -buildvcs=false' };
  const go = (...args: string[]) =>
    systemExec('nice', ['-n', '10', 'go', ...args], { cwd: work, env, lengthy: true });
  try {
    await writeFile(join(work, 'go.mod'), moduleFile);
    await writeFile(join(work, 'suite.go'), `package suite\n\nimport _ "${suiteModule}"\n`);
    const download = await go('mod', 'download', '-json', `${suiteModule}@v${suiteVersion}`);
    const { Dir } = JSON.parse(download.stdout) as { readonly Dir: string };
    if (!existsSync(files.suite) || !existsSync(files.echo)) {
      say(`programs: building the suite of the Gateway API ${suiteVersion}, some minutes`);
      await go('mod', 'tidy');
      await go('test', '-c', '-o', 'suite', suiteModule);
      await go('build', '-o', 'echo', `${suiteModule}/echo-basic`);
      await rename(join(work, 'suite'), files.suite);
      await rename(join(work, 'echo'), files.echo);
    }
    return { ...files, images: imagesOf(await readFile(join(Dir, 'base/manifests.yaml'), 'utf8')) };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const moduleFile = `module suite
go 1.25.0
require sigs.k8s.io/gateway-api v${suiteVersion}
require ${suiteModule} v${suiteVersion}
`;

const imagesOf = (manifests: string) => [
  ...new Set([...manifests.matchAll(/^ +(?:- )?image: (\S+)$/gm)].map(([, name = '']) => name)),
];
