/** `minik8s master`: the control plane alone. */
import { defineCommand } from 'citty';
import { isAbort, stopSignal } from '../base/abort.ts';
import { type Logger, silentLogger } from '../base/log.ts';
import { openDataDirectory } from './data-directory.ts';
import { requireOwnData } from './data-owner.ts';
import { hostAddress, isEveryAddress } from './host-address.ts';
import { laterComponents, startControlPlane } from './master/control-plane.ts';
import { clusterRanges, requireDisjointRanges, requireFreePort } from './preflight.ts';
import { processContext } from './process-context.ts';
import { beginRun, loggedEnd, logRunProblem } from './running/begin-run.ts';
import { serviceManagerOf } from './service-notices.ts';
import { type PartSettings, settingRows } from './settings/setting-table.ts';
import { configPath, readSettings, settingArgs } from './settings/settings.ts';
import { openTracing } from './tracing.ts';

export const masterRows = settingRows('control plane');
const configFile = '/etc/minik8s/master.yaml';

type MasterSettings = PartSettings<'control plane'>;

export const command = defineCommand({
  meta: { description: 'run a control plane' },
  ...{
    examples: [
      'master # run a control plane without a node, until Ctrl-C',
      'master --bind-address 10.0.0.5 # listen on one address only',
    ],
  },
  args: settingArgs(masterRows, configFile),
  async run({ args }) {
    const sources = { flags: args, environment: process.env, configFile };
    const settings = readSettings(masterRows, { command: 'minik8s master', ...sources });
    await master(settings, configPath(sources).path, stopSignal());
  },
});

/** Runs until the signal aborts; rejects when a part cannot start or fails later. */
async function master(settings: MasterSettings, file: string, signal: AbortSignal): Promise<void> {
  requireDisjointRanges(clusterRanges(settings));
  const directory = await openDataDirectory(settings['data-dir']);
  let log: Logger = silentLogger;
  try {
    requireOwnData(directory.path, 'master');
    const recordProblem = await beginRun({ role: 'master', settings, configFile: file });
    await requireFreePort(settings['bind-address'], settings.port, 'port');
    await using tracing = new AsyncDisposableStack();
    const base = processContext(settings);
    log = base.log;
    logRunProblem(log, recordProblem);
    base.loopMeter.watch(signal);
    const manager = serviceManagerOf(base.log, signal);
    const context = { ...base, ...(await openTracing(settings, base, tracing)) };
    const any = isEveryAddress(settings['bind-address']);
    const advertiseAddress = any ? (settings['node-ip'] ?? (await hostAddress())) : settings['bind-address'];
    const server = `https://${advertiseAddress}:${settings.port}`;
    const plane = await startControlPlane(
      { ...context, settings, configFile: file, server, advertiseAddress },
      signal,
    );
    process.stdout.write(`minik8s is ready: ${server} (kubeconfig ${plane.kubeconfig})\n`);
    context.log.warnOfUnknownComponents(laterComponents(plane));
    await Promise.all([manager.ready(`control plane at ${server}`), plane.stopped]);
  } catch (error) {
    // A stop request before the master was ready is not a failure.
    if (!signal.aborted || !isAbort(error)) throw loggedEnd(log, settings, error);
  } finally {
    await directory.release();
  }
}
