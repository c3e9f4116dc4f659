/** The types of Dns. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const dnsTypes: DescribedTypes = {
  Dns: {
    '': 'Dns gives a host name to HTTP paths that lead to Services of its namespace, on every node.',
    ...headFields('Dns'),
    'spec!:DnsSpec': 'The host name, and the Services of its paths.',
    'status:DnsStatus': 'The status of the object, written by the cluster.',
  },
  DnsSpec: {
    'host!:string':
      'The host name that is served, such as shop.example.com. Pods resolve it to their own node, and ' +
      'every node answers for it on port 80. A host belongs to one namespace of the cluster.',
    'paths!:[]DnsSpecPaths':
      'The paths of the host and the Services they lead to. A path of a host belongs to one Dns object ' +
      'of the cluster.',
  },
  DnsSpecPaths: {
    'path:string':
      'The path prefix that is routed to the Service, in whole elements: /api stands for /api and for ' +
      'everything below /api/. Defaults to /, which stands for all paths. The longest path that fits a ' +
      'request is taken.',
    'serviceName!:string': 'Name of the Service, in the namespace of the Dns object, that gets the requests.',
    'servicePort!:int32': 'Port of the Service, one of its spec.ports, from 1 to 65535.',
  },
  DnsStatus: {
    'observedGeneration:int64': 'The metadata.generation that this status was computed from.',
    'conditions:[]DnsStatusConditions':
      'The state of the object. The condition Ready is True when its paths are served.',
  },
  DnsStatusConditions: conditionFields,
};
