/** Reads Images on one master, and writes their status. */
import { apiVersionOf, storageKey, storagePrefix } from '../../../apimachinery/resource-definition.ts';
import { newConflict, newNotFound, type Status, StatusError } from '../../../apimachinery/status-error.ts';
import { waitForNow } from '../../../apiserver/reads/freshness.ts';
import type { EngineContext } from '../../../apiserver/server-context.ts';
import { type Image, imageResource } from '../api/image.ts';

export type Handle = (request: Request) => Promise<Response>;

type Parts = Pick<EngineContext, 'cache' | 'clock' | 'latest'>;

export class ImageObjects {
  readonly #server: Parts;
  readonly #handle: Handle;

  /** `handle`: handler of this server, as a user who may do everything. */
  constructor(server: Parts, handle: Handle) {
    this.#server = server;
    this.#handle = handle;
  }

  /** Returns the newest state of an Image. Throws 404 if there is none. */
  async get(name: string): Promise<Image> {
    await waitForNow(this.#server, new AbortController());
    const found = this.#server.cache.get(storageKey(imageResource, '', name))?.object as Image | undefined;
    if (!found) throw newNotFound(imageResource, name);
    return found;
  }

  /** Returns the newest state of all Images. */
  async list(): Promise<readonly Image[]> {
    await waitForNow(this.#server, new AbortController());
    return this.#server.cache.list(storagePrefix(imageResource)).map(({ object }) => object as Image);
  }

  /** Applies a merge patch to the status; throws Conflict if the Image has changed since it was read. */
  async patchStatus({ metadata }: Image, status: object): Promise<Image> {
    const { name, uid, resourceVersion } = metadata;
    const patch = { metadata: { uid, resourceVersion }, status };
    const answer = await this.#send('PATCH', `${name}/status`, patch);
    return (await answer.json()) as Image;
  }

  /** Restores the content that pods get in the spec, which ends an upload of other content. */
  async revert({ metadata, status }: Image): Promise<void> {
    const { name, uid, resourceVersion } = metadata;
    const { config, layers } = status?.content ?? {};
    await this.#send('PATCH', name, { metadata: { uid, resourceVersion }, spec: { config, layers } });
  }

  async remove({ metadata }: Image): Promise<void> {
    const { name, uid, resourceVersion } = metadata;
    const preconditions = { uid, resourceVersion };
    await this.#send('DELETE', name, { apiVersion: 'v1', kind: 'DeleteOptions', preconditions });
  }

  async #send(method: 'PATCH' | 'DELETE', path: string, body: object): Promise<Response> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const request = new Request(
      `http://minik8s.internal/apis/${apiVersionOf(imageResource)}/images/${path}`,
      {
        method,
        headers: { 'content-type': type, 'user-agent': 'images' },
        body: JSON.stringify(body),
      },
    );
    const answer = await this.#handle(request);
    if (answer.ok) return answer;
    throw new StatusError((await answer.json()) as Status);
  }
}

/** The error for an upload whose Image another upload has changed. */
export const replaced = (name: string) =>
  newConflict(
    imageResource,
    name,
    'another load of this name began meanwhile; run minik8s ctl image load again if your image is the one to keep',
  );
