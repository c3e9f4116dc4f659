/** The types of FunctionVersion. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import { instanceFields, instanceTypes, programFields } from './function-fields.ts';

export const functionVersionTypes: DescribedTypes = {
  FunctionVersion: {
    '':
      'FunctionVersion is an immutable copy of the program and the instance settings of one spec of a ' +
      'Function.',
    ...headFields('FunctionVersion'),
    'spec!:FunctionVersionSpec': 'The program and the settings of an instance. Immutable.',
    'status:FunctionVersionStatus': 'The result of building the image, written by the nodes.',
  },
  FunctionVersionSpec: {
    'function!:string': 'Name of the Function.',
    ...programFields,
    'image!:string':
      'The image of an instance. minik8s.function/NAMESPACE/NAME:HASH is built from the files by the ' +
      'nodes that need it.',
    ...instanceFields('FunctionVersion'),
    'baseImage:string': 'The image of the runtime, to which the files are added.',
  },
  ...instanceTypes('FunctionVersion'),
  FunctionVersionStatus: {
    'lock:string':
      'The libraries that the first build installed, with their hashes; every other build installs the ' +
      'same. Lines of a requirements.txt for python, a package-lock.json for nodejs.',
    'log:string': 'The last lines of the log of the newest build.',
    'nodeName:string': 'The node of the newest build.',
    'conditions:[]FunctionVersionStatusConditions':
      'The condition Built is True when the newest build has succeeded.',
  },
  FunctionVersionStatusConditions: conditionFields,
};
