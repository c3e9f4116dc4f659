/** The start of an etcd without minik8s, as the floor of minik8s' own start. */
import { spawn } from 'node:child_process';
import { systemExec } from '../../src/os/exec.ts';
import { etcdBinary } from '../fixtures/etcd-binary.ts';

/** Starts an etcd on an empty directory and resolves when it serves. */
export async function etcdAlone(): Promise<void> {
  const { stdout } = await systemExec('mktemp', ['-d']);
  const directory = stdout.trim();
  const urls = ['client', 'peer'].map((name) => `unix://${name}:0`);
  const child = spawn(
    etcdBinary,
    [
      '--data-dir=data',
      `--listen-client-urls=${urls[0]}`,
      `--advertise-client-urls=${urls[0]}`,
      `--listen-peer-urls=${urls[1]}`,
      `--initial-advertise-peer-urls=${urls[1]}`,
      `--initial-cluster=default=${urls[1]}`,
    ],
    { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`etcd ended with ${code}`)));
    child.stderr.on('data', (text) => String(text).includes('ready to serve client requests') && resolve());
  });
  child.removeAllListeners('exit');
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  await systemExec('rm', ['-r', directory]);
}
