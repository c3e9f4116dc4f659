/**
 * OpenAPI of extension servers, read in the background: a server that hangs keeps its former documents. A
 * document that has not changed is neither sent again nor read again.
 */
import type { APIService } from '../../api/apiregistration/v1/api-service.ts';
import type { DelegatedDescription } from '../../apiserver/delegation.ts';
import { documentPathIn, isDocumentV3, partOfV2 } from './openapi-plan.ts';
import type { FetchedDocument } from './probe.ts';

/** Resolves to a document of an extension server; to `former` if it has not changed or cannot be read. */
export type FetchDocument = (
  name: string,
  path: string,
  former: FetchedDocument | undefined,
  signal: AbortSignal,
) => Promise<FetchedDocument | undefined>;

/** Documents that were read last of a version. */
interface Known {
  readonly index: FetchedDocument | undefined;
  readonly pathV3: string | undefined;
  readonly v3: FetchedDocument | undefined;
  readonly v2: FetchedDocument | undefined;
  readonly description: DelegatedDescription;
}

export class ExtensionOpenApi {
  readonly #fetch: FetchDocument;
  #known = new Map<string, Known>();
  #descriptions: readonly DelegatedDescription[] = [];

  constructor(fetch: FetchDocument) {
    this.#fetch = fetch;
  }

  /** Descriptions of all versions; another array after every change. */
  get descriptions(): readonly DelegatedDescription[] {
    return this.#descriptions;
  }

  /** Reads the documents of the available servers again, and forgets those of other APIServices. */
  async read(
    services: readonly APIService[],
    isAvailable: (service: APIService) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const read = await Promise.all(
      services.map(async (service) => {
        const { name } = service.metadata;
        const former = this.#known.get(name);
        return [name, isAvailable(service) ? await this.#next(service, former, signal) : former] as const;
      }),
    );
    if (signal.aborted) return;
    this.#known = new Map(read.flatMap(([name, known]) => (known ? [[name, known] as const] : [])));
    const next = [...this.#known.values()].map(({ description }) => description);
    const isSame =
      next.length === this.#descriptions.length && next.every((one, i) => one === this.#descriptions[i]);
    if (!isSame) this.#descriptions = next;
  }

  async #next(service: APIService, former: Known | undefined, signal: AbortSignal): Promise<Known> {
    const { group = '', version = '' } = service.spec;
    const fetch: Fetch = (path, last) => this.#fetch(service.metadata.name, path, last, signal);
    const read = await thirdVersion(fetch, { group, version }, former);
    const v2 = await fetch('/openapi/v2', former?.v2);
    if (former && read.v3 === former.v3 && v2 === former.v2) return { ...former, ...read, v2 };
    const description = {
      ...{ group, version },
      v3: read.v3 && isDocumentV3(read.v3.body) ? read.v3.body : undefined,
      v2: v2 && partOfV2(v2.body, { group, version }),
    };
    return { ...read, v2, description };
  }
}

type Fetch = (path: string, former: FetchedDocument | undefined) => Promise<FetchedDocument | undefined>;

/** Reads the index of version 3, and the document of the version that it names. */
async function thirdVersion(
  fetch: Fetch,
  of: { readonly group: string; readonly version: string },
  former: Known | undefined,
): Promise<Pick<Known, 'index' | 'pathV3' | 'v3'>> {
  const index = await fetch('/openapi/v3', former?.index);
  const pathV3 = index && documentPathIn(index.body, of);
  if (!pathV3) return { index, pathV3, v3: undefined };
  return { index, pathV3, v3: await fetch(pathV3, pathV3 === former?.pathV3 ? former.v3 : undefined) };
}
