/** The types of Function. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import { instanceFields, instanceTypes, programFields } from './function-fields.ts';

export const functionTypes: DescribedTypes = {
  Function: {
    '':
      'Function is a program that is called by HTTP. It has as many instances as its calls need, and ' +
      'none when there are none.',
    ...headFields('Function'),
    'spec!:FunctionSpec': 'The program, how an instance of it runs, and how many there are.',
    'status:FunctionStatus': 'The status of the function, written by the cluster.',
  },
  FunctionSpec: {
    ...programFields,
    'image:string':
      'An image that answers HTTP on the port of the variable PORT, instead of a runtime and files. A ' +
      'call is a POST to /.',
    ...instanceFields('Function'),
    'minScale:int32': 'The least number of instances. Defaults to 0.',
    'maxScale:int32': 'The greatest number of instances, at most 1000. Defaults to 10.',
    'metric:string':
      'What the number of instances follows: Concurrency, the calls under way, or Requests, the calls ' +
      'that came in windowSeconds. Defaults to Concurrency.',
    'target:int32':
      'How much of the metric an instance should have. Defaults to 70 % of concurrency, or 5 calls a ' +
      'window.',
    'windowSeconds:int32':
      'Over how many seconds the metric is looked at before instances are taken away, from 1 to 3600. ' +
      'Defaults to 30.',
    'idleSeconds:int32':
      'After how many seconds without a call the last instance goes, from 1 to 86400. Defaults to 60.',
    'public:bool':
      'Whether everybody may call it. Otherwise callers need the verb create on functions/invoke. ' +
      'Defaults to false.',
  },
  ...instanceTypes('Function'),
  FunctionStatus: {
    'observedGeneration:int64': 'The metadata.generation that this status was computed from.',
    'latestVersion:string': 'Name of the FunctionVersion that was made of the spec.',
    'activeVersion:string': 'Name of the FunctionVersion that is called: the newest one that was ready.',
    'demand:{}int32': 'How many instances each gateway asks for, by the name of its master.',
    'replicas:int32': 'How many instances there are.',
    'readyReplicas:int32': 'How many of them can be called.',
    'conditions:[]FunctionStatusConditions':
      'The state of the function. The condition of type Ready says whether what the spec says is what ' +
      'is called, and if not, why.',
  },
  FunctionStatusConditions: conditionFields,
};
