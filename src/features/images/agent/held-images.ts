/**
 * Images of the cluster on this node: the list of Images, and the download of their content from other nodes
 * or a master for pods that need it.
 */
import { join } from 'node:path';
import PQueue from 'p-queue';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { StatusError } from '../../../apimachinery/status-error.ts';
import { unlessAborted } from '../../../base/abort.ts';
import { errorMessage } from '../../../base/log.ts';
import { createInformerFactory } from '../../../client/shared-informer.ts';
import { imageIds } from '../../../docker/image-archive.ts';
import type { ClusterImages, HeldImage } from '../../../kubelet/images/cluster-images.ts';
import type { NodeFeatureContext } from '../../../kubelet/node/node-feature.ts';
import { isStatic } from '../../../kubelet/node/plan/static-pod.ts';
import type { RuntimeImage } from '../../../kubelet/runtime/runtime.ts';
import { type Image, imageResource } from '../api/image.ts';
import { imageSizeOf, mastersWith } from '../api/image-content.ts';
import { fullImageName, heldTag, objectNameOf } from '../api/image-name.ts';
import type { ImageEngine } from './image-engine.ts';
import { fetchImage, requireRoom, type Source } from './image-fetch.ts';
import { nodesToAsk } from './plan/nodes-to-ask.ts';

/** Maximum number of images that are fetched at once. */
const atOnce = 2;

export interface HeldImagesOptions extends NodeFeatureContext {
  readonly engine: ImageEngine;
  /** Opens the archive of an Image at a node. */
  readonly fromNode: (node: string, image: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  /** Opens the archive of an Image at a master. */
  readonly fromMaster: (image: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
}

type Fetched = Awaited<ReturnType<HeldImage['fetch']>>;

export class HeldImages implements ClusterImages {
  readonly #options: HeldImagesOptions;
  readonly #queue = new PQueue({ concurrency: atOnce });
  /** Fetches that are in progress, by digest: pods that need the same image share one. */
  readonly #fetching = new Map<string, Promise<Fetched>>();
  readonly #stop = new AbortController();
  #list: (() => readonly Image[]) | undefined;
  #get: ((name: string) => Image | undefined) | undefined;

  constructor(options: HeldImagesOptions) {
    this.#options = options;
  }

  async find(pod: Pod, image: string, asksServer: boolean): Promise<HeldImage | undefined> {
    const full = fullImageName(image);
    if (full === undefined) return undefined;
    const name = objectNameOf(full);
    const known = this.#get?.(name) ?? (asksServer ? await this.#ask(pod, name) : undefined);
    const content = known?.status?.content;
    if (!known || !content || known.spec.image !== full) return undefined;
    return {
      digest: content.config.digest,
      present: () => this.#present(known),
      fetch: (signal) => unlessAborted(signal, this.#fetch(known)),
    };
  }

  /**
   * Follows the Images until the signal aborts: gets those for all nodes, and removes those that are gone.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, random, log } = this.#options;
    signal.addEventListener('abort', () => this.#stop.abort(signal.reason), { once: true });
    const informers = createInformerFactory({ client, clock, random, log });
    const informer = informers.informerFor(imageResource);
    informer.addEventHandler({
      onAdd: (image) => void this.#follow(image),
      onUpdate: (image, old) => void this.#follow(image, old),
      onDelete: (image) => void this.#forget(image),
    });
    this.#get = (name) => informer.lister.get(name);
    this.#list = () => informer.lister.list();
    await informers.start(signal).catch(() => undefined);
    await informers.stopped();
  }

  /** Opens the archive of an Image for another node; undefined if this node does not have it. */
  async open(name: string) {
    const content = this.#get?.(name)?.status?.content;
    return content && this.#options.engine.save(heldTag(content.config.digest));
  }

  mayRemove(names: readonly string[]): boolean {
    const held = this.#withTag(names);
    return !held || mastersWith(held).length > 0;
  }

  removed(names: readonly string[]): void {
    const held = this.#withTag(names);
    if (held) void this.#report(held.metadata.name, null);
  }

  #withTag(names: readonly string[]): Image | undefined {
    return this.#list?.().find(({ status }) => names.includes(heldTag(status?.content?.config.digest ?? '')));
  }

  /**
   * Asks the API server. A server of an earlier version does not have the kind, and a node that does not
   * belong to the cluster yet may not read it.
   */
  async #ask(pod: Pod, name: string): Promise<Image | undefined> {
    try {
      return await this.#options.client.resource(imageResource).get(name, '');
    } catch (error) {
      const reason = error instanceof StatusError ? error.status.reason : undefined;
      if (reason === 'NotFound' || reason === 'Forbidden') return undefined;
      // A static pod must start without an API server: it may be the one that the server depends on.
      if (isStatic(pod)) return undefined;
      throw new Error(`cannot ask whether the cluster holds this image: ${errorMessage(error)}`, {
        cause: error,
      });
    }
  }

  /** Returns the image if the engine has exactly the held one. */
  async #present({ metadata, status }: Image): Promise<RuntimeImage | undefined> {
    const content = status?.content;
    if (!content) return undefined;
    const found = await this.#options.runtime.findImage(heldTag(content.config.digest));
    if (!found || !imageIds(content).includes(found.id)) return undefined;
    const { nodeName } = this.#options;
    if (this.#get?.(metadata.name)?.status?.nodes?.[nodeName] !== content.config.digest)
      await this.#report(metadata.name, content.config.digest);
    return found;
  }

  #fetch(image: Image): Promise<Fetched> {
    const digest = image.status?.content?.config.digest ?? '';
    const underWay = this.#fetching.get(digest);
    if (underWay !== undefined) return underWay;
    const fetching = this.#queue
      .add(() => this.#fetchNow(image))
      .finally(() => this.#fetching.delete(digest)) as Promise<Fetched>;
    this.#fetching.set(digest, fetching);
    return fetching;
  }

  async #fetchNow(image: Image): Promise<Fetched> {
    const { engine, record, runtime, dataDir, clock, log } = this.#options;
    const content = image.status?.content;
    if (!content) throw new Error('the image is being uploaded');
    const digest = content.config.digest;
    const tag = heldTag(digest);
    await requireRoom(dataDir, content);
    const path = join(dataDir, 'images', `${digest.replace(':', '-')}.tar`);
    const problems: string[] = [];
    for (const source of this.#sources(image)) {
      try {
        await record.pulling(tag);
        const load = (archive: Parameters<ImageEngine['load']>[0]) => engine.load(archive, image.spec.image);
        await fetchImage({ source, content, tag, path, clock, load }, this.#stop.signal);
        const got = await runtime.findImage(tag);
        if (!got || !imageIds(content).includes(got.id))
          throw new Error(`the engine has made ${got?.id ?? 'no image'} of the archive instead of ${digest}`);
        await this.#keep(image, got);
        return { image: got, from: source.name };
      } catch (error) {
        await record.gaveUp(tag);
        this.#stop.signal.throwIfAborted();
        log.warn('an image of the cluster could not be fetched', {
          ...{ image: image.spec.image, from: source.name, error: errorMessage(error) },
        });
        problems.push(`${source.name}: ${errorMessage(error)}`);
      }
    }
    throw new Error(problems.join('; ') || 'no master and no node has it');
  }

  /** Returns some nodes that have the image in random order, and then the masters. */
  #sources(image: Image): readonly Source[] {
    const { nodeName, random, fromNode, fromMaster } = this.#options;
    const { name } = image.metadata;
    const nodes = nodesToAsk(image, nodeName, random).map((node) => ({
      name: `node ${node}`,
      open: (signal: AbortSignal) => fromNode(node, name, signal),
    }));
    return [...nodes, { name: 'the master', open: (signal) => fromMaster(name, signal) }];
  }

  /**
   * Records the image as one that was pulled for pods, so that it is removed some time after its last use.
   */
  async #keep({ metadata, status }: Image, { id }: RuntimeImage): Promise<void> {
    const digest = status?.content?.config.digest ?? '';
    await this.#options.record.pulled(heldTag(digest), id);
    await this.#report(metadata.name, digest);
  }

  /** Reports that this node has the image, or with `null` that it does not. */
  async #report(name: string, digest: string | null): Promise<void> {
    const { client, nodeName, log } = this.#options;
    try {
      await client
        .resource(imageResource)
        .patch(name, '', 'merge', { status: { nodes: { [nodeName]: digest } } }, 'status');
    } catch (error) {
      // The image can be used all the same; other nodes ask a master.
      log.debug('cannot report an image of this node', { image: name, error: errorMessage(error) });
    }
  }

  async #follow(image: Image, old?: Image): Promise<void> {
    if (old && !this.#concerns(image, old)) return;
    try {
      if (old && digestOf(old) !== digestOf(image)) await this.#release(old);
      await this.#settle(image);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const bytes = imageSizeOf(image.status?.content ?? image.spec);
      const what = { image: image.spec.image, bytes, error: errorMessage(error) };
      this.#options.log.warn('cannot get an image for this node', what);
    }
  }

  /** Gets an image that is for all nodes, and corrects this node's entry in the status. */
  async #settle(image: Image): Promise<void> {
    if (digestOf(image) === undefined || (await this.#present(image))) return;
    if (image.spec.allNodes) await this.#fetch(image);
    else if (this.#isListed(image)) await this.#report(image.metadata.name, null);
  }

  /** Returns true unless only the entries of other nodes and masters have changed. */
  #concerns(image: Image, old: Image): boolean {
    return (
      digestOf(image) !== digestOf(old) ||
      image.spec.allNodes !== old.spec.allNodes ||
      this.#isListed(image) !== this.#isListed(old)
    );
  }

  #isListed({ status }: Image): boolean {
    return status?.nodes?.[this.#options.nodeName] !== undefined;
  }

  async #forget(image: Image): Promise<void> {
    if (digestOf(image) !== undefined) await this.#release(image);
  }

  /**
   * Removes the name of content that the cluster no longer holds. While a container uses the content, the
   * engine keeps it, and it is removed like other unused images later.
   */
  async #release({ spec, status }: Image): Promise<void> {
    const { engine, log } = this.#options;
    try {
      await engine.remove(heldTag(status?.content?.config.digest ?? ''));
    } catch (error) {
      log.debug('an image stays in the engine', { image: spec.image, error: errorMessage(error) });
    }
  }
}

const digestOf = ({ status }: Image): string | undefined => status?.content?.config.digest;
