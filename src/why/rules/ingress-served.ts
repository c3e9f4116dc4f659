import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { conditionOf, oneLine } from '../pod-facts.ts';
import type { Mend, Rule } from '../rule.ts';

const served = 'IngressServed';

export const ingressServed: Rule = {
  kinds: ['ingresses.networking.k8s.io'],
  symptom: 'An Ingress has no ADDRESS, and its hosts do not answer.',
  cause: 'No node serves Ingresses: the image of the web server is missing, or port 80 is taken.',
  advice: 'Load the image on the node that is named, or free the port.',
  find(ingress, seen) {
    if (recordsAt(ingress, 'status', 'loadBalancer', 'ingress').length > 0) return undefined;
    const name = textAt(ingress, 'spec', 'ingressClassName');
    const ofClass = seen.get({ key: 'ingressclasses.networking.k8s.io', namespace: '', name });
    if (textAt(ofClass, 'spec', 'controller') !== 'minik8s.io/ingress') return undefined;
    const nodes = seen.list('nodes');
    const troubled = nodes.filter((node) => conditionOf(node, served)?.status === 'False');
    if (troubled.length === 0 || troubled.length < nodes.length) return undefined;
    return {
      severity: 'broken',
      says: 'no node serves Ingresses',
      evidence: troubled.map((node) => `node ${metadataOf(node).name}: ${messageOf(node)}`),
      mend: [mendOf(troubled)],
    };
  },
};

const messageOf = (node: JsonObject) => oneLine(textAt(conditionOf(node, served), 'message'));

function mendOf(nodes: readonly JsonObject[]): Mend {
  const isPort = nodes.every((node) => textAt(conditionOf(node, served), 'reason') === 'PortTaken');
  return {
    advice: isPort
      ? 'end the program that uses port 80 on the node, or start the node with another --http-port'
      : 'do on the node what the message says, such as docker load -i FILE for a missing image',
  };
}
