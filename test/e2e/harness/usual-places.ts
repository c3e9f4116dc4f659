/**
 * Commands as an administrator types them: the programs by name, the data directory and Docker's socket at
 * their default paths.
 */
import { ExecError, systemExec } from '../../../src/os/exec.ts';
import { type Cluster, executable } from './cluster.ts';
import type { Host } from './host.ts';

/**
 * Returns a function that runs a line of bash on the host as root, in a mount namespace of its own, in the
 * host's directory. It resolves to the output with any exit status, and rejects if the line has not
 * ended after 60 s.
 */
export function usualPlaces(host: Host, cluster: Cluster): (line: string) => Promise<string> {
  const places = [
    'mount -t tmpfs tmpfs /var/lib && mkdir /var/lib/minik8s && mount --bind "$DATA" /var/lib/minik8s',
    'mount -t tmpfs tmpfs /run && touch /run/docker.sock && mount --bind "$DOCKER" /run/docker.sock',
    'minik8s() { "$MINIK8S" "$@"; }; ctl() { "$MINIK8S" ctl "$@"; }; cd "$HOST"',
  ];
  const env = {
    ...process.env,
    ...{ DATA: cluster.dataDir, DOCKER: host.dockerSocket, MINIK8S: executable, HOST: host.directory },
    KUBECONFIG: '/var/lib/minik8s/admin.conf',
  };
  return async (line) => {
    const script = [...places, line].join('\n');
    const command = host.command('unshare', ['--mount', 'bash', '-c', script]);
    try {
      const { stdout, stderr } = await systemExec(...command, { env, timeoutMs: 60_000 });
      return stdout + stderr;
    } catch (error) {
      if (!(error instanceof ExecError) || error.failure.code === undefined) throw error;
      return error.failure.stdout + error.failure.stderr;
    }
  };
}
