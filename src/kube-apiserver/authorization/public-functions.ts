/** Everybody may call a function that says so. */
import type { Fn } from '../../api/minik8s/v1/function.ts';
import { functionResource } from '../../api/minik8s/v1/function.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import type { Cache } from '../../storage/cache.ts';

export const publicFunctionsAuthorizer =
  (cache: Cache): Authorizer =>
  (request) => {
    if (request.type !== 'resource' || request.verb !== 'create') return false;
    if (request.group !== functionResource.group || request.resource !== 'functions/invoke') return false;
    const found = cache.get(storageKey(functionResource, request.namespace, request.name));
    return (found?.object as Fn | undefined)?.spec.public === true;
  };
