/** Allows everyone to call a public function or workflow, or to send a request to a public trigger. */
import { type Fn, functionResource } from '../../api/minik8s/v1/function.ts';
import { type Trigger, triggerResource } from '../../api/minik8s/v1/trigger.ts';
import { type Workflow, workflowResource } from '../../api/minik8s/v1/workflow.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type ResourceRef, storageKey } from '../../apimachinery/resource-definition.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import type { Cache } from '../../storage/cache.ts';

interface Called {
  readonly resource: ResourceRef;
  isPublic(object: KubeObject): boolean;
}

const called: Readonly<Record<string, Called>> = {
  'functions/invoke': { resource: functionResource, isPublic: (object) => (object as Fn).spec.public },
  'workflows/invoke': { resource: workflowResource, isPublic: (object) => (object as Workflow).spec.public },
  'triggers/invoke': {
    resource: triggerResource,
    isPublic: (object) => (object as Trigger).spec.http?.public === true,
  },
};

export const publicCallsAuthorizer =
  (cache: Cache): Authorizer =>
  (request) => {
    if (request.type !== 'resource' || request.verb !== 'create') return false;
    const kind = Object.hasOwn(called, request.resource) ? called[request.resource] : undefined;
    if (!kind || request.group !== kind.resource.group) return false;
    const found = cache.get(storageKey(kind.resource, request.namespace, request.name));
    return found !== undefined && kind.isPublic(found.object);
  };
