/** Calls of webhooks, by their rules and selectors. */
import type { Labels } from '../../../apimachinery/labels.ts';
import type { Address, HookedRequest } from '../../admission-requests/plan/request.ts';
import {
  hasNamespaceTerms,
  matchedAddress,
  selectsNamespaceLabels,
  selectsObject,
} from '../../admission-requests/plan/rules.ts';
import type { Hook } from './hook.ts';

/** Call of a webhook with objects in the version of `address`. */
export interface Invocation {
  readonly hook: Hook;
  readonly address: Address;
}

/** Returns the call of the webhook for the request, by its rules and its selector of objects. */
export function invocationOf(hook: Hook, request: HookedRequest): Invocation | undefined {
  const { rules = [], objectSelector, matchPolicy } = hook.webhook;
  if (!selectsObject(objectSelector, request)) return undefined;
  const address = matchedAddress(rules, matchPolicy, request);
  return address && { hook, address };
}

/** Returns whether the webhook is called for objects of some namespaces only, and the request has one. */
export const asksForNamespace = ({ webhook }: Hook, request: HookedRequest): boolean =>
  hasNamespaceTerms(webhook.namespaceSelector, request);

export const selectsNamespace = ({ webhook }: Hook, labels: Labels | undefined): boolean =>
  selectsNamespaceLabels(webhook.namespaceSelector, labels);
