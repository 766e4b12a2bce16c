// What needs Node: models from files, and sources from addresses.

export { type AddressOptions, inputSourceAt } from "./input/sourceAddress.ts";
export { readModel } from "./model/readModel.ts";
