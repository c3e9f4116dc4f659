/**
 * Upgrades of this node that an administrator has ordered by its Node. The agent downloads the executable,
 * compares it with the digest of the order, and has systemd run `minik8s upgrade` with it in a unit of its
 * own, which outlives the restart of the agent and goes back if the new version does not start.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import {
  executableDocument,
  parseUpgradeOrder,
  type UpgradeOrder,
  upgradableAnnotation,
  upgradeAnnotation,
  upgradeResultAnnotation,
} from '../../api/core/v1/node/upgrade.ts';
import { Wake } from '../../base/keep-doing.ts';
import { errorMessage } from '../../base/log.ts';
import { createInformerFactory } from '../../client/shared-informer.ts';
import type { Transport } from '../../client/transport.ts';
import type { NodeFeature, NodeFeatureContext } from '../../kubelet/node/node-feature.ts';
import { replaceFile } from '../../os/replace-file.ts';

export interface NodeUpgradesOptions {
  readonly transport: Transport;
  /** Path of the installed executable. */
  readonly executable: string;
  /** Resolves to the SHA-256 digest of the executable that runs. */
  readonly ownDigest: () => Promise<string | undefined>;
  /** Resolves to true if this process is an installed service. */
  readonly isService: () => Promise<boolean>;
}

export const nodeUpgrades = (options: NodeUpgradesOptions): NodeFeature => ({
  start: (context) => ({
    runAsMember: (signal) => new NodeUpgrades({ ...context, ...options }).run(signal),
  }),
});

/** Maximum size of a downloaded executable in bytes. */
const maxBytes = 1024 * 1024 * 1024;
/** Time in milliseconds until a failed turn is repeated, and until the end of an upgrade is looked for. */
const retryMs = 10_000;
const pendingMs = 1_000;

type Options = NodeFeatureContext & NodeUpgradesOptions;

class NodeUpgrades {
  readonly #options: Options;
  readonly #directory: string;
  readonly #wake = new Wake();
  #reported: string | undefined;
  #isAnnounced = false;

  constructor(options: Options) {
    this.#options = options;
    this.#directory = join(options.dataDir, 'upgrade');
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, random, log, nodeName, isService } = this.#options;
    if (!(await isService())) return;
    const informers = createInformerFactory({ client, clock, random, log });
    const nodes = informers.informerFor(nodeResource, { fieldSelector: `metadata.name=${nodeName}` });
    const changed = () => this.#wake.call();
    nodes.addEventHandler({ onAdd: changed, onUpdate: changed });
    informers.start(signal).catch(() => undefined);
    while (!signal.aborted) {
      this.#wake.forget();
      const restMs = await this.#turn(nodes.lister.get(nodeName), signal).catch((error) => {
        if (!signal.aborted) log.warn('an ordered upgrade is retried', { error: errorMessage(error) });
        return retryMs;
      });
      await this.#wake.wait(clock, restMs, signal);
    }
    await informers.stopped();
  }

  /** Resolves to the time in milliseconds until the next turn, if the Node does not change earlier. */
  async #turn(node: Node | undefined, signal: AbortSignal): Promise<number> {
    if (node === undefined) return Number.POSITIVE_INFINITY;
    if (!this.#isAnnounced && node.metadata.annotations?.[upgradableAnnotation] === undefined)
      await this.#annotate(upgradableAnnotation, 'true');
    this.#isAnnounced = true;
    const order = parseUpgradeOrder(node.metadata.annotations?.[upgradeAnnotation]);
    if (order === undefined || this.#reported === order.id) return Number.POSITIVE_INFINITY;
    if ((await this.#options.ownDigest()) === order.sha256) return this.#end(order);
    if ((await this.#attempted()) === order.id) return this.#followUp(order);
    this.#options.log.info('an upgrade was ordered', { version: order.version });
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await replaceFile(this.#attemptFile, `${order.id}\n`, { mode: 0o600 });
    try {
      await this.#start(order, signal);
    } catch (error) {
      signal.throwIfAborted();
      await this.#report(order, errorMessage(error));
      return Number.POSITIVE_INFINITY;
    }
    return pendingMs;
  }

  async #end({ id }: UpgradeOrder): Promise<number> {
    this.#reported = id;
    await rm(this.#directory, { recursive: true, force: true });
    return Number.POSITIVE_INFINITY;
  }

  /** Reports a failure once the unit of the upgrade has printed it. */
  async #followUp(order: UpgradeOrder): Promise<number> {
    const [, error] = /^error: (.+)$/m.exec(await textOf(this.#logFile)) ?? [];
    if (error === undefined) return pendingMs;
    await this.#report(order, error);
    return Number.POSITIVE_INFINITY;
  }

  async #report({ id }: UpgradeOrder, error: string): Promise<void> {
    this.#options.log.error('an ordered upgrade has failed', { error });
    await this.#annotate(upgradeResultAnnotation, JSON.stringify({ id, error }));
    this.#reported = id;
    await rm(this.#file, { force: true });
  }

  async #annotate(name: string, value: string): Promise<void> {
    const { client, nodeName } = this.#options;
    const patch = { metadata: { annotations: { [name]: value } } };
    await client.resource(nodeResource).patch(nodeName, '', 'merge', patch);
  }

  /** Downloads the executable and starts the unit; resolves when it runs. */
  async #start(order: UpgradeOrder, signal: AbortSignal): Promise<void> {
    const { exec, executable } = this.#options;
    const digest = await this.#download(signal);
    if (digest !== order.sha256)
      throw new Error(
        `the master serves an executable with the SHA-256 digest ${digest}, not ${order.sha256}: upgrade all masters first`,
      );
    await rm(this.#logFile, { force: true });
    const output = [`StandardOutput=append:${this.#logFile}`, `StandardError=append:${this.#logFile}`];
    const unit = [
      '--collect',
      '--quiet',
      '--unit=minik8s-upgrade',
      ...output.map((one) => `--property=${one}`),
    ];
    const upgrade = ['upgrade', '--yes', '--file', this.#file, '--sha256', order.sha256, '--allow-downgrade'];
    await exec('systemd-run', [
      ...unit,
      executable,
      ...upgrade,
      ...['--timeout', `${Math.floor(order.timeoutSeconds)}s`],
    ]);
  }

  /** Resolves to the digest of the downloaded executable. */
  async #download(signal: AbortSignal): Promise<string> {
    const { transport } = this.#options;
    const response = await transport.request({ method: 'GET', path: executableDocument, signal });
    const hash = createHash('sha256');
    let size = 0;
    await using file = await open(this.#file, 'w', 0o600);
    for await (const chunk of response.body) {
      if (response.status !== 200) continue;
      size += chunk.byteLength;
      if (size > maxBytes) throw new Error(`the executable of the master has more than ${maxBytes} bytes`);
      hash.update(chunk);
      await file.write(chunk);
    }
    if (response.status !== 200)
      throw new Error(`the master answered the download of its executable with status ${response.status}`);
    return hash.digest('hex');
  }

  async #attempted(): Promise<string> {
    return (await textOf(this.#attemptFile)).trim();
  }

  get #file(): string {
    return join(this.#directory, 'minik8s');
  }

  get #attemptFile(): string {
    return join(this.#directory, 'attempt');
  }

  get #logFile(): string {
    return join(this.#directory, 'log');
  }
}

/** Resolves to the text of a file; to an empty one if there is no file. */
async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}
