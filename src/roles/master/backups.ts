/** The scheduled backups of a master with an embedded etcd, and the Events about them. */
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import { systemUser } from '../../apiserver/request/user.ts';
import { createBackup } from '../../backup/create.ts';
import { readPassphrase } from '../../backup/passphrase.ts';
import { scheduleBackups } from '../../backup/scheduled.ts';
import type { BackupStore } from '../../backup/store.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { ControlPlane } from '../../control-plane/control-plane.ts';
import { createEventRecorder } from '../../controller-runtime/event-recorder.ts';
import { systemExec } from '../../os/exec.ts';
import { openRpc } from '../../storage/etcd.ts';
import { openStore } from '../backup/place.ts';
import type { ProcessContext } from '../process-context.ts';
import type { PartSettings } from '../settings/setting-table.ts';
import { etcdBinaryIn } from './inside-etcd.ts';

export interface BackupOptions extends Pick<ProcessContext, 'clock' | 'random' | 'log'> {
  readonly settings: PartSettings<'control plane'>;
  /** Configuration file of this process, which backups contain. */
  readonly configFile: string;
  /** Socket of the embedded etcd; undefined for an external one. */
  readonly etcdSocket: string | undefined;
}

/** Creates backups from the time at which the control plane is ready until the signal aborts. */
export type Backups = (controlPlane: ControlPlane, signal: AbortSignal) => Promise<void>;

/**
 * Reads the settings of the backups; resolves to undefined without --backup-interval. Rejects with UsageError
 * if the etcd is external, or the passphrase or the credentials of a bucket cannot be read.
 */
export async function prepareBackups(options: BackupOptions): Promise<Backups | undefined> {
  const { settings, etcdSocket } = options;
  const { 'backup-interval': intervalMs, 'backup-passphrase-file': file } = settings;
  if (intervalMs === undefined) return undefined;
  if (etcdSocket === undefined)
    throw new UsageError('--backup-interval: an external etcd is backed up with its own tools');
  const passphrase = file === undefined ? undefined : await readPassphrase(file, '--backup-passphrase-file');
  const { clock, random } = options;
  const store = await openStore(settings['backup-dir'], {
    ...{ settings, environment: process.env, clock, random },
  });
  const more = { intervalMs, etcdSocket, passphrase, store };
  return async (controlPlane, signal) => {
    await controlPlane.ready;
    return run({ ...options, ...more }, controlPlane, signal);
  };
}

interface RunOptions extends BackupOptions {
  readonly intervalMs: number;
  readonly etcdSocket: string;
  readonly passphrase: string | undefined;
  readonly store: BackupStore;
}

async function run(options: RunOptions, controlPlane: ControlPlane, signal: AbortSignal): Promise<void> {
  const { settings, configFile, etcdSocket, intervalMs, passphrase, store, clock, random, log } = options;
  const { 'data-dir': dataDir, 'backup-keep': keep } = settings;
  const client = controlPlane.clientOf(systemUser('apiserver'), 'kube-apiserver');
  const events = createEventRecorder({ client, clock, random, log, component: 'backup' });
  const create = async (until: AbortSignal) => {
    const rpc = await openRpc({ endpoints: [`unix:${etcdSocket}`], clock, random, log });
    try {
      const [member] = rpc.members;
      if (!member) throw new Error('etcd has no endpoint');
      return await createBackup({
        ...{ dataDir, configFile, store, passphrase, member, exec: systemExec },
        ...{ now: clock.now(), random },
        etcdBinary: etcdBinaryIn(dataDir),
        signal: until,
      });
    } finally {
      rpc.close();
    }
  };
  const report = (reason: string, message: string) => {
    const type = reason === 'BackupFailed' ? 'Warning' : 'Normal';
    const about = client.resource(namespaceResource).get('kube-system');
    about
      .then((namespace) => events.event(namespace, type, reason, message))
      .catch((error) =>
        log.warn('the Event about a backup could not be created', { error: errorMessage(error) }),
      );
  };
  try {
    await scheduleBackups({ intervalMs, store, keep, create, report, clock, random, log }, signal);
  } finally {
    await events.stop();
  }
}
