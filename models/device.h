/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one model of this project: the devices of a cluster. */
#ifndef GSIM_MODELS_DEVICE_H
#define GSIM_MODELS_DEVICE_H

#include "sim/api/model.h"

extern const struct gsim_model_ops gsim_model_device;

#endif
