/** Everybody may call a function, or send a request to a trigger, that says so. */
import type { Fn } from '../../api/minik8s/v1/function.ts';
import { functionResource } from '../../api/minik8s/v1/function.ts';
import { type Trigger, triggerResource } from '../../api/minik8s/v1/trigger.ts';
import { type ResourceRef, storageKey } from '../../apimachinery/resource-definition.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import type { Cache } from '../../storage/cache.ts';

export const publicFunctionsAuthorizer =
  (cache: Cache): Authorizer =>
  (request) => {
    if (request.type !== 'resource' || request.verb !== 'create') return false;
    if (request.group !== functionResource.group) return false;
    const find = (resource: ResourceRef) =>
      cache.get(storageKey(resource, request.namespace, request.name))?.object;
    if (request.resource === 'functions/invoke')
      return (find(functionResource) as Fn | undefined)?.spec.public === true;
    if (request.resource === 'triggers/invoke')
      return (find(triggerResource) as Trigger | undefined)?.spec.http?.public === true;
    return false;
  };
