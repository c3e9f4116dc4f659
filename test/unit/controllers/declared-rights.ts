/** Access check of requests by the rights that controllers declare, as their account's roles grant them. */

import { type AccountRights, rulesFrom } from '../../../src/api/rbac/v1/rule-rows.ts';
import type { RoleBinding } from '../../../src/api/rbac/v1/types.gen.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { newForbidden } from '../../../src/apimachinery/status-error.ts';
import { CompiledRule, resourceQuestion } from '../../../src/kube-apiserver/rbac/rule-match.ts';

export interface Access {
  readonly verb: string;
  readonly ref: Pick<ResourceRef, 'group' | 'plural'>;
  readonly name: string;
  readonly subresource?: string;
}

export class DeclaredRights {
  readonly #rules: readonly CompiledRule[];

  constructor(all: readonly AccountRights[]) {
    const rows = all.flatMap(({ kubernetes = [], own = [] }) => [...kubernetes, ...own]);
    this.#rules = rulesFrom(rows).map((rule) => new CompiledRule(rule));
  }

  /** Throws the server's 403 for a request that no rule allows. */
  require({ verb, ref, name, subresource = '' }: Access): void {
    const resource = subresource === '' ? ref.plural : `${ref.plural}/${subresource}`;
    const question = resourceQuestion(verb, ref.group, resource, name);
    if (!this.#rules.some((rule) => rule.allows(question)))
      throw newForbidden(
        { group: ref.group, plural: resource },
        name,
        `its rights do not allow to ${verb} it`,
      );
  }

  /** Requires the right to create the object, and for a RoleBinding the right to bind its role. */
  requireCreate(ref: ResourceRef, object: Partial<KubeObject>, name: string): void {
    this.require({ verb: 'create', ref, name });
    if (ref.kind !== 'RoleBinding') return;
    const { apiGroup: group = '', name: role } = (object as RoleBinding).roleRef;
    this.require({ verb: 'bind', ref: { group, plural: 'clusterroles' }, name: role });
  }
}
