/** `ctl cp`: copies files to and from a container, with the tar program in the container. */
import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { sleep } from '../../base/clock.ts';
import { TransportError } from '../../client/transport-error.ts';
import { archiveOf, extract } from '../copy/copy.ts';
import { type CopyPlan, memberPrefix, planCopy, splitRemote } from '../copy/cp-plan.ts';
import type { FlagTable } from '../flags/flags.ts';
import type { Stdio } from '../io.ts';
import { findResource } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { chooseContainer, containerFlag, type Pod } from '../objects/pods.ts';
import { runExec } from '../streaming/exec.ts';
import { endWith, LostConnection } from '../streaming/run-command.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  ...containerFlag,
  retries: {
    type: 'string',
    hint: 'COUNT',
    about:
      'how often a copy from a container is resumed after a lost connection; below 0: no limit; the container needs sh and tail',
    usual: '0',
  },
  'no-preserve': { type: 'boolean', about: 'do not keep the owners and permissions of the local files' },
} as const satisfies FlagTable;

export const cp: Verb = {
  about: 'copy files to and from a container, which needs tar',
  group: 'Troubleshooting and Debugging Commands',
  words: ['FILE [NAMESPACE/]POD:PATH', '[NAMESPACE/]POD:PATH FILE'],
  flags: flagTable,
  examples: [
    'ctl cp app.conf web:/etc/app.conf # copy a file into a container',
    'ctl cp shop/web:/var/log/app ./log -c app # copy a directory out of one',
  ],
  async run(context) {
    const plan = planCopy(context.flags.words);
    if (plan.direction === 'to pod' && !existsSync(plan.local))
      throw new Error(`${plan.local} doesn't exist in local filesystem`);
    const { program, place } = await programIn(context, plan.remote);
    if (plan.direction === 'from pod' && (await isMissing(program, plan.remote.path)))
      throw new Error(`there is no ${plan.remote.path} in ${place}`);
    const code = await (plan.direction === 'to pod'
      ? upload(context, plan, program)
      : download(context, plan, program));
    endWith(context.io, code);
  },
};

/** Runs a program in the container and resolves to its exit code. */
type Program = (command: readonly string[], stdio: Stdio, stdin: boolean) => Promise<number>;

interface Inside {
  readonly program: Program;
  /** The container in words, such as `container web of pod web-1`. */
  readonly place: string;
}

async function programIn(
  context: VerbContext,
  { namespace, pod: name }: CopyPlan['remote'],
): Promise<Inside> {
  const cluster = context.cluster();
  const resource = findResource(await cluster.resources(), 'pods');
  const target = { resource, namespace: namespace ?? cluster.namespace, name };
  const pod: Pod = { target, object: await cluster.get(targetPath(target)) };
  const container = chooseContainer(context, pod, 'exec into');
  return {
    place: `container ${container} of pod ${name}`,
    program: (command, stdio, stdin) =>
      runExec(context, target, { container, command, input: { stdin } }, stdio),
  };
}

async function upload(
  { flags, io }: VerbContext,
  { local, remote }: Extract<CopyPlan, { direction: 'to pod' }>,
  program: Program,
): Promise<number> {
  const own = basename(resolve(local));
  const { directory, name } = (await isDirectory(program, remote.path))
    ? { directory: remote.path, name: own }
    : splitRemote(remote.path);
  const stdin = Readable.from(archiveOf(local, name || own, io.err), { objectMode: false });
  const { stdout, stderr } = io.stdio();
  // -m: extracted files get the current time, not the times in the archive.
  const owners = flags.on('no-preserve') ? ['--no-same-permissions', '--no-same-owner'] : [];
  const command = ['tar', ...owners, '-xmf', '-', '-C', directory];
  return program(command, { stdin, stdout, stderr }, true);
}

const isDirectory = async (program: Program, path: string) => (await testOf(program, '-d', path)) === 0;

/** Resolves to true if the container has neither a file nor a symlink at the path. */
const isMissing = async (program: Program, path: string) =>
  (await testOf(program, '-e', path)) === 1 && (await testOf(program, '-L', path)) === 1;

/**
 * Resolves to the exit code of `test` in the container: 0 for true, 1 for false. Resolves to undefined if it
 * cannot be run: the container may lack it, and tar reports any problem itself.
 */
async function testOf(program: Program, question: string, path: string): Promise<number | undefined> {
  const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const stdio = { stdin: Readable.from([]), stdout: nowhere(), stderr: nowhere() };
  try {
    return await program(['test', question, path], stdio, false);
  } catch {
    return undefined;
  }
}

async function download(
  context: VerbContext,
  { local, remote }: Extract<CopyPlan, { direction: 'from pod' }>,
  program: Program,
): Promise<number> {
  const { io } = context;
  const archive = new PassThrough();
  const packed = pack(context, remote.path, program, archive).finally(() => archive.end());
  const extraction = { prefix: memberPrefix(remote.path), destination: local, err: io.err };
  let gaveUp = false;
  const extracted = extract(archive, extraction).catch((error) => {
    gaveUp = !archive.writableEnded;
    archive.destroy();
    throw error;
  });
  const [code, result] = await Promise.allSettled([packed, extracted]);
  if (result.status === 'rejected' && gaveUp) throw result.reason;
  // tar's own error is more useful than the error of an archive that ended too early.
  if (code.status === 'rejected') throw code.reason;
  if (code.value === 0 && result.status === 'rejected') throw result.reason;
  return code.value;
}

/** Delay in milliseconds before a copy is resumed: the cause of the lost connection may persist. */
const retryMs = 1000;

/**
 * Writes the archive of a path, over as many connections as needed, up to --retries; resolves to tar's exit
 * code.
 */
async function pack(
  { flags, io }: VerbContext,
  path: string,
  program: Program,
  archive: Writable,
): Promise<number> {
  const retries = flags.whole('retries') ?? 0;
  let received = 0;
  const stdout = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      received += chunk.length;
      archive.write(chunk, done);
    },
  });
  const { stderr } = io.stdio();
  for (let tries = 1; ; tries++) {
    try {
      return await program(packCommand(path, received), { stdin: Readable.from([]), stdout, stderr }, false);
    } catch (error) {
      const isSpent = retries >= 0 && tries > retries;
      if (!isLostConnection(error) || io.signal.aborted || isSpent) throw error;
      io.err(`Resuming copy at ${received} bytes, retry ${tries}/${retries}\n`);
      await sleep(io.clock, retryMs, io.signal);
    }
  }
}

/** Returns the command that writes the archive of a path without its first `received` bytes. */
const packCommand = (path: string, received: number): string[] =>
  received === 0
    ? ['tar', 'cf', '-', path]
    : ['sh', '-c', 'tar cf - "$1" | tail -c "+$2"', 'sh', path, String(received + 1)];

const isLostConnection = (error: unknown): boolean =>
  error instanceof LostConnection || error instanceof TransportError;
