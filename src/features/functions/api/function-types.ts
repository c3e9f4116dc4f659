/** The types of Function. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import { instanceFields, instanceTypes, programFields } from './function-fields.ts';

export const functionTypes: DescribedTypes = {
  Function: {
    '':
      'Function is a program that is called by HTTP. The number of its instances follows its calls, down ' +
      'to zero.',
    ...headFields('Function'),
    'spec!:FunctionSpec': 'The program, the settings of its instances, and the limits of their number.',
    'status:FunctionStatus': 'The status of the function, written by the cluster.',
  },
  FunctionSpec: {
    ...programFields,
    'image:string':
      'An image that serves HTTP on the port of the variable PORT, instead of a runtime and files. A call ' +
      'is a POST to /.',
    ...instanceFields('Function'),
    'minScale:int32': 'Minimum number of instances. Defaults to 0.',
    'maxScale:int32': 'Maximum number of instances, at most 1000. Defaults to 10.',
    'metric:string':
      'The metric by which the number of instances is scaled: Concurrency, the calls in progress, or ' +
      'Requests, the calls that arrived within windowSeconds. Defaults to Concurrency.',
    'target:int32':
      'Target value of the metric per instance. Defaults to 70 % of concurrency, or 5 calls per window.',
    'windowSeconds:int32':
      'Seconds over which the metric is evaluated before instances are removed, from 1 to 3600. Defaults ' +
      'to 30.',
    'idleSeconds:int32':
      'Seconds without a call after which the last instance is removed, from 1 to 86400. Defaults to 60.',
    'public:bool':
      'Whether any client may call the function, even without credentials. Otherwise callers need the ' +
      'verb create on functions/invoke. Defaults to false.',
  },
  ...instanceTypes('Function'),
  FunctionStatus: {
    'observedGeneration:int64': 'The metadata.generation that this status was computed from.',
    'latestVersion:string': 'Name of the FunctionVersion of the current spec.',
    'activeVersion:string': 'Name of the FunctionVersion that is called: the newest version that was ready.',
    'demand:{}int32': 'Number of instances that each gateway requests, by the name of its master.',
    'replicas:int32': 'Number of instances.',
    'readyReplicas:int32': 'Number of instances that can be called.',
    'conditions:[]FunctionStatusConditions':
      'The state of the function. The condition Ready is True when the version of the current spec is ' +
      'called; otherwise it has the reason.',
  },
  FunctionStatusConditions: conditionFields,
};
