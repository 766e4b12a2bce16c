// What needs Node: models and sources from files and addresses, the labels of a source, and the files of a fit.

export { type AddressOptions, inputSourceAt } from "./input/sourceAddress.ts";
export { readModel } from "./model/readModel.ts";
export { predictSource } from "./predict/predictSource.ts";
export { labelsOfFolder, putFitFiles, type ResultOptions, removeLabels } from "./report/resultFiles.ts";
