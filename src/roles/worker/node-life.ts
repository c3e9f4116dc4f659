/** Settings of a node's life: the heartbeat interval, eviction and taints, images and shutdown. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { onAbort } from '../../base/abort.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { runtimeDirectoryOf } from '../../installation/plan/service-manager.ts';
import type { ImageThresholds } from '../../kubelet/images/plan/images-to-free.ts';
import type { Kubelet } from '../../kubelet/kubelet.ts';
import type { ShutdownPeriods } from '../../kubelet/node/plan/shutdown-phases.ts';
import type { LogRotation } from '../../kubelet/runtime/log-rotation.ts';
import { type Exec, ExecError } from '../../os/exec.ts';
import type { PartSettings, Settings } from '../settings/setting-table.ts';

type NodeLifeSettings = PartSettings<'node'>;

/** Returns the settings of the node agent. Throws UsageError. */
export const agentLife = (settings: NodeLifeSettings) => ({
  heartbeatMs: settings['heartbeat-interval'],
  evictionHard: settings['eviction-hard'],
  ...(settings['allowed-unsafe-sysctls'] && { allowedUnsafeSysctls: settings['allowed-unsafe-sysctls'] }),
  devices: { rules: settings.devices ?? [], pluginDirectory: settings['device-plugin-dir'] },
  maxParallelImagePulls: settings['max-parallel-image-pulls'],
  logRotation: logRotationOf(settings),
  imageGc: imageThresholds(settings),
});

/** Log rotation, for the runtime, which rotates, and for the agent, which reports the setting. */
export const logRotationOf = (
  settings: Settings<'container-log-max-size' | 'container-log-max-files'>,
): LogRotation => ({
  maxBytes: settings['container-log-max-size'],
  maxFiles: settings['container-log-max-files'],
});

function imageThresholds(settings: NodeLifeSettings): ImageThresholds {
  const highPercent = settings['image-gc-high-threshold'];
  const lowPercent = settings['image-gc-low-threshold'];
  if (lowPercent > highPercent)
    throw new UsageError('--image-gc-low-threshold must not be more than --image-gc-high-threshold');
  return { highPercent, lowPercent, minAgeMs: settings['image-minimum-gc-age'] };
}

/** Returns undefined if pods keep running when the machine shuts down. Throws UsageError. */
export function shutdownPeriods(settings: NodeLifeSettings): ShutdownPeriods | undefined {
  const totalMs = settings['shutdown-grace-period'];
  // The default is a third, as with the kubelet's usual 30 and 10 seconds.
  const criticalMs = settings['shutdown-grace-period-critical-pods'] ?? Math.floor(totalMs / 3);
  if (criticalMs > totalMs) {
    throw new UsageError(
      '--shutdown-grace-period-critical-pods must not be more than --shutdown-grace-period, of which it is a part',
    );
  }
  return totalMs > 0 ? { totalMs, criticalMs } : undefined;
}

/** The part of `process` that is needed to detect a shutdown, and to stop. */
export interface PowerSource {
  on(event: 'SIGPWR', listener: () => void): unknown;
  off(event: 'SIGPWR', listener: () => void): unknown;
  /** Stops this process gracefully. */
  stop(): void;
}

export const processPower: PowerSource = {
  on: (event, listener) => process.on(event, listener),
  off: (event, listener) => process.off(event, listener),
  stop: () => process.kill(process.pid, 'SIGTERM'),
};

export interface NodeShutdownOptions {
  readonly kubelet: Pick<Kubelet, 'shutDown'>;
  /** Undefined if only `signal` stops the node. */
  readonly periods: ShutdownPeriods | undefined;
  readonly exec: Exec;
  readonly log: Logger;
  readonly source?: PowerSource;
  readonly isStopping?: (exec: Exec) => Promise<boolean>;
}

/**
 * Returns a signal for the node's parts that aborts after `signal`: at once if only the process is stopped,
 * and after the pods have ended if the machine is shutting down. SIGPWR ends the pods too, and then the
 * process.
 */
export function signalAfterPods(
  { kubelet, periods, exec, log, source = processPower, isStopping = machineIsStopping }: NodeShutdownOptions,
  signal: AbortSignal,
): AbortSignal {
  if (!periods) return signal;
  const ended = new AbortController();
  let down: Promise<void> | undefined;
  const endPods = () => {
    down ??= kubelet
      .shutDown(periods)
      .catch((error) => log.error('cannot end the pods of this node', { error: errorMessage(error) }));
    return down;
  };
  const onPower = () => {
    log.info('the machine is shutting down (SIGPWR)');
    void endPods().then(() => {
      if (!signal.aborted) source.stop();
    });
  };
  source.on('SIGPWR', onPower);
  const stopped = async () => {
    if (down || (await isStopping(exec))) await endPods();
    source.off('SIGPWR', onPower);
    ended.abort(signal.reason);
  };
  onAbort(signal, () => void stopped());
  return ended.signal;
}

/** Exists while OpenRC leaves a runlevel, such as at a shutdown: it then stops Docker too. */
const runlevelEnds = join(runtimeDirectoryOf.openrc, 'rc.stopping');

/**
 * Resolves to true if the whole machine is shutting down, and not only this service: by the state of systemd
 * if it runs (sd_booted(3)), or else if OpenRC stops all services.
 */
export async function machineIsStopping(exec: Exec, booted = runtimeDirectoryOf.systemd): Promise<boolean> {
  if (!existsSync(booted)) return existsSync(runlevelEnds);
  try {
    const { stdout } = await exec('systemctl', ['is-system-running'], { timeoutMs: 5000 });
    return stdout.trim() === 'stopping';
  } catch (error) {
    // systemctl exits with an error for every state except `running`.
    return error instanceof ExecError && error.failure.stdout.trim() === 'stopping';
  }
}
