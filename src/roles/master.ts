/** `minik8s master`: the control plane alone. */
import { join } from 'node:path';
import { defineCommand } from 'citty';
import { isAbort, stopSignal } from '../base/abort.ts';
import { openCredentials } from '../pki/credentials.ts';
import { writeAdminKubeconfig } from './admin-kubeconfig.ts';
import { controlPlaneSettings, startControlPlane } from './control-plane.ts';
import { openDataDirectory } from './data-directory.ts';
import { hostAddress } from './host-address.ts';
import { requireFreePort } from './preflight.ts';
import { processContext } from './process-context.ts';
import { readSettings, type Settings, settingArgs } from './settings.ts';

const names = [...controlPlaneSettings, 'node-ip'] as const;
const configFile = '/etc/minik8s/master.yaml';

type MasterSettings = Settings<(typeof names)[number]>;

export const command = defineCommand({
  meta: { description: 'run a control plane' },
  args: settingArgs(names, configFile),
  async run({ args }) {
    const settings = readSettings(names, { flags: args, environment: process.env, configFile });
    await master(settings, stopSignal());
  },
});

/** Runs until the signal aborts; rejects when a part can not start or go on. */
async function master(settings: MasterSettings, signal: AbortSignal): Promise<void> {
  const directory = await openDataDirectory(settings['data-dir']);
  try {
    await requireFreePort(settings['bind-address'], settings.port, 'port');
    const context = processContext(settings['log-level']);
    const any = settings['bind-address'] === '0.0.0.0';
    const advertiseAddress = any ? (settings['node-ip'] ?? (await hostAddress())) : settings['bind-address'];
    const server = `https://${advertiseAddress}:${settings.port}`;
    const credentials = await openCredentials(join(settings['data-dir'], 'pki'), () => context.clock.now());
    const kubeconfig = await writeAdminKubeconfig({ settings, credentials, server });
    const plane = await startControlPlane({ ...context, settings, credentials, advertiseAddress }, signal);
    process.stdout.write(`minik8s is ready: ${server} (kubeconfig ${kubeconfig})\n`);
    await plane.stopped;
  } catch (error) {
    // Asked to stop before it was ready, it has stopped: that is no failure.
    if (!signal.aborted || !isAbort(error)) throw error;
  } finally {
    await directory.release();
  }
}
