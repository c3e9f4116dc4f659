/** Everybody may call a function or a workflow that says so. */
import { type Fn, functionResource } from '../../api/minik8s/v1/function.ts';
import { type Workflow, workflowResource } from '../../api/minik8s/v1/workflow.ts';
import { type ResourceRef, storageKey } from '../../apimachinery/resource-definition.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import type { Cache } from '../../storage/cache.ts';

const called: Readonly<Record<string, ResourceRef>> = {
  'functions/invoke': functionResource,
  'workflows/invoke': workflowResource,
};

export const publicCallsAuthorizer =
  (cache: Cache): Authorizer =>
  (request) => {
    if (request.type !== 'resource' || request.verb !== 'create') return false;
    const kind = Object.hasOwn(called, request.resource) ? called[request.resource] : undefined;
    if (!kind || request.group !== kind.group) return false;
    const found = cache.get(storageKey(kind, request.namespace, request.name));
    return (found?.object as Fn | Workflow | undefined)?.spec.public === true;
  };
