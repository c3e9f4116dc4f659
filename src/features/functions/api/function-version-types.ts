/** The types of FunctionVersion. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import { instanceFields, instanceTypes, programFields } from './function-fields.ts';

export const functionVersionTypes: DescribedTypes = {
  FunctionVersion: {
    '': 'FunctionVersion is what one spec of a Function says of its instances. It cannot be changed.',
    ...headFields('FunctionVersion'),
    'spec!:FunctionVersionSpec': 'What an instance is made of. It cannot be changed.',
    'status:FunctionVersionStatus': 'What came of building the image, written by the nodes.',
  },
  FunctionVersionSpec: {
    'function!:string': 'Name of the Function.',
    ...programFields,
    'image!:string':
      'The image of an instance. minik8s.function/NAMESPACE/NAME:HASH is built from the files by the ' +
      'nodes that need it.',
    ...instanceFields('FunctionVersion'),
    'baseImage:string': 'The image of the runtime, that the files are added to.',
  },
  ...instanceTypes('FunctionVersion'),
  FunctionVersionStatus: {
    'lock:string':
      'The libraries that the first build installed, with their hashes: what every other build ' +
      'installs. Of python lines of a requirements.txt, of nodejs a package-lock.json.',
    'log:string': 'The last lines of the log of the newest build.',
    'nodeName:string': 'The node of the newest build.',
    'conditions:[]FunctionVersionStatusConditions':
      'The condition of type Built says whether the newest build succeeded.',
  },
  FunctionVersionStatusConditions: conditionFields,
};
