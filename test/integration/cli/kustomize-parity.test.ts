/** `ctl kustomize` beside kubectl 1.32: the same bytes, warnings, errors and exit status. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type BesideKubectl, startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import { type Ctl, ctlFor, kubectlFor, type Result } from '../../fixtures/ctl.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';
import { kustomizationCases } from '../../fixtures/kustomization-faults.ts';
import type { KustomizationCase } from '../../fixtures/kustomizations.ts';

const run = promisify(execFile);

describe('ctl kustomize beside kubectl 1.32', { skip: unlessKubectl('1.32') }, () => {
  const kubectl = kubectlFor('/proc/nonexistent');
  let root: string;
  let ctl: Ctl;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'minik8s-kustomize-test-'));
    const offline = ctlFor(undefined);
    const env = { PATH: process.env.PATH ?? '', KUBECACHEDIR: join(root, 'cache') };
    ctl = (args) => offline(args, { env });
  });
  after(() => rm(root, { recursive: true, force: true }));

  const write = async (directory: string, files: KustomizationCase['files']) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
  };
  /** Runs the same command line with both, from the directory; both write to the same paths. */
  const both = async (directory: string, line: string): Promise<[Result, Result]> => {
    const args = line.split(' ').map((word) => placed(directory, word));
    const env = { PATH: process.env.PATH ?? '' };
    const theirs = await kubectl(['kustomize', ...args], { env });
    const wrote = await filesIn(directory);
    const ours = await ctl(['kustomize', ...args]);
    assert.deepEqual(await filesIn(directory), wrote);
    return [ours, theirs];
  };

  for (const [index, { name, files, lines }] of kustomizationCases.entries())
    it(`prints the same for ${name}`, async () => {
      const directory = join(root, String(index));
      await write(directory, files);
      for (const line of lines) {
        const [ours, theirs] = await both(directory, line);
        assert.deepEqual(comparable(ours), comparable(theirs), line);
        assert.equal(
          (await filesIn(directory)).some(([path]) => path.endsWith('ran')),
          false,
        );
      }
    });

  it('writes the same file for each object to a directory', async () => {
    const directory = join(root, 'each');
    const [{ files }] = kustomizationCases as readonly [KustomizationCase];
    await write(directory, { ...files, 'theirs/x': '', 'ours/x': '' });
    const env = { PATH: process.env.PATH ?? '' };
    await kubectl(['kustomize', join(directory, 'over'), '-o', join(directory, 'theirs')], { env });
    const ours = await ctl(['kustomize', join(directory, 'over'), '-o', join(directory, 'ours')]);
    assert.equal(ours.status, 0, ours.err);
    const [here, there] = [await filesIn(join(directory, 'ours')), await filesIn(join(directory, 'theirs'))];
    assert.ok(here.length > 4, `${here.length} files`);
    assert.deepEqual(here, there);
  });

  it('fetches remote files and remote bases as kubectl does', async () => {
    const directory = join(root, 'remote');
    const repository = join(directory, 'repository');
    await write(repository, {
      'base/kustomization.yaml': 'resources: [map.yaml]\nnamePrefix: remote-\n',
      'base/map.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
    });
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: repository });
    await git('init', '--quiet', '--initial-branch=main');
    await git('add', '.');
    await git('commit', '--quiet', '-m', 'one');
    const web = await startWeb();
    try {
      const { port } = web.address() as AddressInfo;
      const at = `http://127.0.0.1:${port}`;
      await write(directory, {
        'git/kustomization.yaml': `resources: ["file://${repository}//base?ref=main"]\n`,
        'branch/kustomization.yaml': `resources: ["file://${repository}//base?ref=nosuch"]\n`,
        'folder/kustomization.yaml': `resources: ["file://${repository}//nosuch?ref=main"]\n`,
        'file/kustomization.yaml': `resources: ["${at}/map.yaml"]\n`,
        'gone/kustomization.yaml': `resources: ["${at}/gone.yaml"]\n`,
      });
      for (const line of ['git', 'branch', 'folder', 'file', 'gone', `file://${repository}//base?ref=main`]) {
        const [ours, theirs] = await both(directory, line);
        assert.deepEqual(comparable(ours), comparable(theirs), line);
        if (line === 'git' || line === 'file') assert.match(ours.out, /^kind: ConfigMap$/m);
      }
    } finally {
      web.close();
    }
  });

  it('runs no program of a cache that other users may write to', async () => {
    const directory = join(root, 'shared');
    const programs = join(directory, 'cache/minik8s/bin');
    await write(directory, {
      'all/kustomization.yaml': 'resources: [map.yaml]\n',
      'all/map.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
      'cache/minik8s/bin/kustomize': '#!/bin/sh\necho owned\n',
    });
    await chmod(join(programs, 'kustomize'), 0o755);
    await chmod(programs, 0o777);
    const env = { PATH: process.env.PATH ?? '', KUBECACHEDIR: join(directory, 'cache') };
    const { out, err } = await ctlFor(undefined)(['kustomize', join(directory, 'all')], { env });
    assert.match(out, /^kind: ConfigMap$/m, err);
    assert.equal(await readFile(join(programs, 'kustomize'), 'utf8'), '#!/bin/sh\necho owned\n');
  });

  it('reads 200 files', async () => {
    const directory = join(root, 'many');
    const names = Array.from({ length: 200 }, (_, index) => `m${index}.yaml`);
    await write(directory, {
      'all/kustomization.yaml': `resources: [${names.join(', ')}]\n`,
      ...Object.fromEntries(
        names.map((name) => [
          `all/${name}`,
          `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name.replace('.yaml', '')}}\n`,
        ]),
      ),
    });
    const [ours, theirs] = await both(directory, 'all');
    assert.equal(ours.out.length, theirs.out.length);
    assert.equal(ours.out, theirs.out);
  });
});

describe('manifests of -k beside kubectl 1.32', { skip: unlessKubectl('1.32') }, () => {
  let root: string;
  let beside: BesideKubectl;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'minik8s-kustomize-test-'));
    beside = await startBesideKubectl();
    await writeFile(
      join(root, 'kustomization.yaml'),
      'resources: [b.yaml]\nnamePrefix: k-\nconfigMapGenerator: [{name: a, literals: [x=1]}]\n',
    );
    await writeFile(
      join(root, 'b.yaml'),
      'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: b, labels: {one: two}}\n',
    );
  });
  after(async () => {
    await beside.server.stop();
    await rm(root, { recursive: true, force: true });
  });

  it('does the same for each verb, in the same order', async () => {
    // Verbs that change objects run with both clients, so the state is the same before each of them.
    const lines = [
      ['create -k DIR', 'delete -k DIR'],
      ['apply -k DIR', ''],
      ['apply -k DIR', ''],
      ['get -k DIR -o name', ''],
      ['label -k DIR new=label --overwrite', ''],
      ['annotate -k DIR note=1', 'annotate -k DIR note-'],
      ['replace -k DIR', ''],
      ['delete --kustomize=DIR', 'create -k DIR'],
      ['delete -k DIR', ''],
      ['apply -k DIR/nosuch', ''],
      ['get -k DIR/nosuch', ''],
      ['apply -k DIR -f DIR', ''],
      ['delete -k DIR -R', ''],
    ] as const;
    const env = { PATH: process.env.PATH ?? '', KUBECACHEDIR: join(root, 'cache') };
    for (const [line, undo] of lines) {
      const args = line.replaceAll('DIR', root).split(' ');
      const theirs = await beside.kubectl(args, { env });
      if (undo !== '') await beside.kubectl(undo.replaceAll('DIR', root).split(' '), { env });
      const ours = await beside.ctl(args, { env });
      if (line.startsWith('apply') || line.startsWith('label')) {
        assert.equal(ours.status, theirs.status, line);
        assert.deepEqual(
          ours.out.split('\n').map((text) => text.split(' ')[0]),
          theirs.out.split('\n').map((text) => text.split(' ')[0]),
        );
      } else assert.deepEqual(comparableLine(ours), comparableLine(theirs), line);
    }
  });
});

/** Returns the result with an error in the form of ctl, which begins each with `error: `. */
const comparableLine = ({ status, out, err }: Result) => ({
  status,
  out,
  err: err.replace(/^(?=must build)/, 'error: '),
});

/** Returns the word as a path in the directory, unless it is a flag or an address. */
function placed(directory: string, word: string): string {
  if (/^(-|file:|legacy$)/.test(word)) {
    const [flag = '', path] = word.split('=');
    return flag === '--output' ? `${flag}=${join(directory, path ?? '')}` : word;
  }
  return `${directory}/${word}`;
}

async function filesIn(directory: string): Promise<[path: string, text: string][]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('/.git'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Promise.all(
    paths.map(
      async (path): Promise<[string, string]> => [path.slice(directory.length), await readFile(path, 'utf8')],
    ),
  );
}

/**
 * Replaces the random name of the folder into which a repository is cloned. An error of ctl is one line, so
 * that of kubectl is joined to one.
 */
const comparable = ({ status, out, err }: Result): Result => {
  const named = err.replaceAll(/\/kustomize-\d+/g, '/kustomize-N');
  return { status, out, err: status === 0 ? named : `${named.replaceAll(/\s*\n\s*/g, ' ').trim()}\n` };
};

async function startWeb(): Promise<Server> {
  const server = createServer((request, response) => {
    const found = request.url === '/map.yaml';
    response.writeHead(found ? 200 : 404);
    response.end(found ? 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n' : 'none');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return server;
}
