/** Admission of pods with classes that the server has in its cache, or only in its store. */
import assert from 'node:assert/strict';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import {
  type ResourceDefinition,
  type ResourceRef,
  storageKey,
  storagePrefix,
} from '../../../../src/apimachinery/resource-definition.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../../../src/apiserver/admission/plugin.ts';
import type { ServerContext } from '../../../../src/apiserver/server-context.ts';

export const podDefinition = podResource as unknown as ResourceDefinition;

export class ClassWorld {
  readonly #ref: ResourceRef;
  readonly #cached = new Map<string, KubeObject>();
  readonly #stored = new Map<string, KubeObject>();

  /** `ref` is the kind of the classes. */
  constructor(ref: unknown) {
    this.#ref = ref as ResourceRef;
  }

  add(name: string, fields: object, where: 'cached' | 'stored' = 'cached'): void {
    const object = { metadata: { name }, ...fields } as unknown as KubeObject;
    (where === 'cached' ? this.#cached : this.#stored).set(storageKey(this.#ref, '', name), object);
  }

  readonly server = {
    cache: {
      get: (key: string) => {
        const object = this.#cached.get(key);
        return object && { object };
      },
      list: (prefix: string) => {
        assert.equal(prefix, storagePrefix(this.#ref));
        return [...this.#cached.values()].map((object) => ({ object }));
      },
    },
    store: {
      get: async (key: string) => {
        const object = this.#stored.get(key);
        return object && { value: Buffer.from(JSON.stringify(object)), revision: 3 };
      },
    },
  } as unknown as ServerContext;

  /** Returns the pod's specification as it is stored, or the reason of the rejection. */
  async admitted(
    plugin: AdmissionPlugin,
    spec: object,
    over: Partial<Admission> = {},
  ): Promise<object | string> {
    const object = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: structuredClone(spec),
    } as unknown as KubeObject;
    const admission = {
      operation: 'create',
      definition: podDefinition,
      namespace: 'a',
      name: 'p',
      subresource: '',
      object,
      user: { name: 'u', groups: [] },
    } as const;
    try {
      await plugin.mutate?.({ ...admission, ...over });
      return (object as unknown as { spec: object }).spec;
    } catch (error) {
      assert.ok(error instanceof StatusError && error.status.code === 403, String(error));
      return error.message.replace('pods "p" is forbidden: ', '');
    }
  }
}
