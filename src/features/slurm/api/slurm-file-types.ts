/** The types of SlurmFile. */
import { headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const slurmFileTypes: DescribedTypes = {
  SlurmFile: {
    '': 'SlurmFile is a piece of a file that a SlurmJob has brought back. The client of the job makes it.',
    ...headFields('SlurmFile'),
    'spec!:SlurmFileSpec': 'A piece of a file. It cannot be changed.',
  },
  SlurmFileSpec: {
    'job!:string': 'Name of the SlurmJob.',
    'jobUID!:string': 'Uid of the SlurmJob.',
    'kind!:string': 'What the file is: Output, Error, Build (the log of the build) or Result.',
    'path!:string':
      'Its path below the work folder; stdout, stderr or build.log; stdout-3 of task 3 of an array.',
    'offset!:int64': 'How many bytes of the file are before these.',
    'length!:int64': 'How many bytes these are.',
    'data!:string': 'The bytes in base64, no more than 512 KiB.',
  },
};
