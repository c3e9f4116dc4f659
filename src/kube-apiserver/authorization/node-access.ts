/** Access of nodes to the objects of one subject, such as the versions of functions that they build. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { requiredFieldValue } from '../../apimachinery/field-selector.ts';
import type { Admission } from '../../apiserver/admission/plugin.ts';
import type { AccessRequest, Verb } from '../../apiserver/authorization/authorizer.ts';

export type ResourceAccess = Extract<AccessRequest, { type: 'resource' }>;

/** Asks for a fact that a condition depends on. */
export interface NodeQuestions {
  /**
   * Returns whether a pod of the node needs the object that the request names. Another master may have bound
   * the pod a moment ago, so the cache catches up before the answer is no.
   */
  isNeeded(request: ResourceAccess, node: string): Promise<boolean>;
}

/** Returns whether a rule applies to the request of a node. */
export type NodeCondition = (
  request: ResourceAccess,
  node: string,
  questions: NodeQuestions,
) => boolean | Promise<boolean>;

/** A rule allows a request whose group, resource and verb it lists, under its condition. */
export interface NodeRule {
  readonly group: string;
  /** Plurals, or `PLURAL/SUBRESOURCE`. */
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
  readonly when: NodeCondition;
}

/** Objects of one resource that a pod needs on its node, by default in the namespace of the pod. */
export interface PodNeed {
  /** A plural, or `PLURAL/SUBRESOURCE`. */
  readonly resource: string;
  readonly names: Iterable<string>;
  /** True if the objects are in no namespace. */
  readonly inCluster?: true;
}

/** Restricts the writes of nodes to objects of one kind. */
export interface NodeRestriction {
  /** Returns why the write is rejected; undefined if it is allowed. */
  check(node: string, admission: Admission): string | undefined | Promise<string | undefined>;
  /** True if `check` decides on the owners of a new object; otherwise it may have none. */
  readonly checksOwners?: boolean;
}

export interface NodeAccess {
  /** Apply while the Node exists and is not Pending. */
  readonly rules: readonly NodeRule[];
  /** Returns what a pod needs in addition to what its spec refers to. */
  readonly needsOf?: (pod: Pod) => readonly PodNeed[];
  /** Restrictions by `GROUP/PLURAL`. */
  readonly restrictions?: Readonly<Record<string, NodeRestriction>>;
  /** Returns what the image is, if nodes must not run it in static pods; undefined otherwise. */
  readonly reservedImage?: (image: string) => string | undefined;
}

export const always: NodeCondition = () => true;
/** Returns whether a list or watch selects the objects whose `spec.nodeName` is the node. */
export const isOfItsName: NodeCondition = ({ fieldSelector = [] }, node) =>
  requiredFieldValue(fieldSelector, 'spec.nodeName') === node;
export const isNeededHere: NodeCondition = (request, node, { isNeeded }) => isNeeded(request, node);

/** Returns the message of a rejection. */
export const notAllowed = (node: string, what: string) =>
  `node ${JSON.stringify(node)} is not allowed to modify ${what}`;
